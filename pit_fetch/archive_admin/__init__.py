"""What people and scheduled jobs do with an archive: capture, verify, merge, rebuild, drop, replay."""
