"""The bundled providers. Each package holds one ``PROVIDER``, as a third-party package would."""
