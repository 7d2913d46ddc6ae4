"""The promise as laws over worlds: what a source serves, twice, the same up to the PIT and different after it."""
