"""The doors: one file per command; `bedside` is `scripts.cli`."""
