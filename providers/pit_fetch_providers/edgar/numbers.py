"""How EDGAR numbers companies and filings, as regular expressions."""

from __future__ import annotations

# A company's number (CIK), without its leading zeros or with them.
CIK = r"[0-9]{1,10}"
# A filing's number, and how that of paper begins, which SEC staff scan and enter weeks after its filing date: the entry
# is not a dissemination.
ACCESSION = r"[0-9]{10}-[0-9]{2}-[0-9]{6}"
PAPER = "9999999997-"
