"""The page of ``--format html`` in a real browser: headless Chromium, driven through a pipe."""
