"""Which public records an answer holds, in which order and size. Pure."""
