"""What was asked for, as data: options, their values, the request, and the query that a provider sees."""
