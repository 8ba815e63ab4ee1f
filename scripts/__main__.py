"""`python -m scripts` is the `bedside` command."""

import sys

try:
    from bedside import main

    main()
except KeyboardInterrupt:
    sys.exit(130)
