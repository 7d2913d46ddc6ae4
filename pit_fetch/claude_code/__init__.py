"""What pit_fetch installs, checks and proves in Claude Code and its SDK."""
