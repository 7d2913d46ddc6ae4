"""The memory: every exchange of a fetch is kept, and what was in our hands at T answers any question about T.

Receipt is proof: a reply that we held at T was public at T, with or without stamps of its own.

    rule      which version of an item was public at an instant. Pure
    bodies    how a body is packed; pure but for zlib and zstandard
    redaction what a secret looks like in a body
    schema    the file: its tables, how it is opened, and why it cannot be
    log       what is appended: fetches, exchanges, answers, in a chain of hashes for each origin
    index     which version of which item ruled when; derived from the log, and always replaceable
    derive    the records that a recorded fetch yields
    recorder  one fetch as it is recorded: a transport and a listener that never fail it
    memory    what a fetch does with its archive: whether it may be used, and what it answers at a PIT
    overview  how much there is, and the list of fetches
    upkeep    verify, merge, rebuild, drop
    repeated  which recorded answers repeat what is to be deleted
    replay    a recorded answer
    again     what today's code makes of the same replies
    capture   a list of requests, asked without a limit

Only a fetch with an archive imports any of this: SQLite costs start-up time.
"""
