"""Capture a list of requests into an archive: read the list, estimate its calls, run it, report, continue it later."""
