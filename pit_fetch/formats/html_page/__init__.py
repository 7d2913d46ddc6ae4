"""The style sheet, the time line and the texts of the HTML page, which :mod:`pit_fetch.formats.html` assembles."""
