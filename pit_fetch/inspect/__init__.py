"""diff and explain: two answers compared, and each record with its verdict."""
