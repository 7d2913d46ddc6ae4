"""Install, check and prove the enforcement of the PIT in Claude Code and its SDK."""
