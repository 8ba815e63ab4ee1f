"""`python -m scripts` is the `bedside` command."""

from scripts.cli import main

main()
