"""From a command line to stdout."""
