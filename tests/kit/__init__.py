"""Providers for the tests of the kit itself: a good one, and one for each thing that can be wrong."""
