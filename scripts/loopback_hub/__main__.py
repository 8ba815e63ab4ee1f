"""A Hub on this machine to try things on: `python -m scripts.loopback_hub`, until Ctrl-C.

It prints what to set in another shell. What is published to it is gone at the end.
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
    argparse.ArgumentParser(prog="python -m scripts.loopback_hub", description=__doc__).parse_args()
    with tempfile.TemporaryDirectory(prefix="hub-cache-") as cache, LoopbackHub() as hub:
        lines = [f"export {name}={shlex.quote(value)}" for name, value in hub.environment(Path(cache)).items()]
        with suppress(KeyboardInterrupt):
            print(*lines, "# A Hub on this machine, until Ctrl-C. Put the lines above into another shell.", sep="\n")
            sys.stdout.flush()
            while True:
                time.sleep(3600)
        print()


if __name__ == "__main__":
    main()
