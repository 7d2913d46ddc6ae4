"""What people and scheduled jobs do with an archive: capture, verify, export, repair, merge, rebuild, drop, replay."""
