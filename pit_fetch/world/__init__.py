"""A command in a world as of an instant: its requests are intercepted, its network is sealed, its clock is set.

:mod:`~pit_fetch.world.run` starts everything and reports. :mod:`~pit_fetch.world.sealed` is the program in between,
which enters the namespaces and becomes the command. Outside of them, :mod:`~pit_fetch.world.server` speaks HTTP with
the command, and :mod:`~pit_fetch.world.exchanges` decides what each request gets.
"""
