"""Runs one request against one source, and writes up the answer."""
