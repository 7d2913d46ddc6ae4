"""Servers on 127.0.0.1 that speak the providers' protocols from made-up records."""
