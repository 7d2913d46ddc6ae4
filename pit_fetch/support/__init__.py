"""Small helpers that know nothing of fetching."""
