"""The command line: one file per command; `bedside` is `scripts.cli`."""
