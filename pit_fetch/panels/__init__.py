"""One question asked for many subjects as of many instants: the grid, what each cell answers, and why it is empty."""
