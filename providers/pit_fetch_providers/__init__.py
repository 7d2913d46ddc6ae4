"""The bundled providers. Each module holds one ``PROVIDER``, as a third-party package would."""
