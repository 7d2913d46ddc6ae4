"""What people type wrong, and the line that names the fix: loaded only where something is refused. Pure."""
