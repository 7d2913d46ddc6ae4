"""A provider whose module imports what only one of its functions needs."""

import asyncio

from tests.kit import source

assert asyncio


def fetch(query, context):
    return source.fetch(query, context)
