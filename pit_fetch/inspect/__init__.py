"""Two views of answers: ``diff`` compares two of them, ``explain`` gives each record its verdict."""
