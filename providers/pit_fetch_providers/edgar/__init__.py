"""EDGAR, as several sources read it: its hosts, its companies, and when a filing became public."""
