"""A Hub on this machine to try things on: `python -m scripts.loopback_hub [FOLDER]`, until Ctrl-C.

It prints what to set in another shell. With a folder, what is published stays there for the next time.
"""

from __future__ import annotations

import argparse
import shlex
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from scripts.loopback_hub.hub import LoopbackHub


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m scripts.loopback_hub", description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", help="where repositories are kept (by default in memory)")
    folder = parser.parse_args().folder
    with tempfile.TemporaryDirectory(prefix="hub-cache-") as cache, LoopbackHub(folder) as hub:
        lines = [f"export {name}={shlex.quote(value)}" for name, value in hub.environment(Path(cache)).items()]
        with suppress(KeyboardInterrupt):
            print(*lines, "# A Hub on this machine, until Ctrl-C. Put the lines above into another shell.", sep="\n")
            sys.stdout.flush()
            while True:
                time.sleep(3600)
        print()


if __name__ == "__main__":
    main()
