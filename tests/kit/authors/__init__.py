"""Providers by somebody who knew the guide alone and had never seen the kit: as written, but for mistakes."""
