"""`python -m scripts` is the `bedside` command."""

from bedside import main

main()
