"""Tests of the checkout itself; the others also run against an installed wheel."""
