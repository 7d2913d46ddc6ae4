"""The parts of the HTML page: how it looks, and its time line. :mod:`pit_fetch.formats.html` puts it together."""
