"""One instant as an object, for a program that runs agents: its fetches, and the tools that it gives a model."""
