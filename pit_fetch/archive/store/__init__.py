"""The archive's file: an append-only journal of fetches, their bodies, and the index of versions derived from them."""
