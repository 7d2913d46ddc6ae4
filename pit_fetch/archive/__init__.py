"""Records every exchange of a fetch, and answers questions about any instant with what was received by then.

Receipt is evidence: a reply that was received at T was public at T, with or without timestamps of its own.

Only a fetch with an archive imports this package: SQLite costs start-up time.
"""
