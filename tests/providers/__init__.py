"""The standard tests of each bundled provider, on replies of the real shape."""
