"""The commands other than a fetch, one module each: its parser, its help and its run."""
