"""What people and scheduled jobs do with an archive: capture, verify, repair, merge, rebuild, drop, replay."""
