"""The engine: it runs one request against one source, and writes up the answer."""
