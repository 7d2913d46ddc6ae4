"""Servers of the Model Context Protocol: the sources as tools, whose instant no message moves."""
