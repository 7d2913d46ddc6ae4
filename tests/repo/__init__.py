"""Tests of the checkout itself; some of the others also run against an installed wheel."""
