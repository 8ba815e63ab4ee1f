"""What a tutorial begins with, so that it needs no network: a folder of its own with the sample releases, and a Hub on
this machine. With the real Hub none of it is needed.
"""

import os
import shutil
import tempfile
from pathlib import Path

from scripts.loopback_hub.hub import LoopbackHub

place = tempfile.TemporaryDirectory()
built = Path(__file__).parent / "_build" / "work" / "releases"
shutil.copytree(built, Path(place.name) / "releases", ignore=shutil.ignore_patterns("*.work", "*.log"))
os.chdir(place.name)
hub = LoopbackHub().__enter__()
for name in ("CLICOLOR", "CLICOLOR_FORCE", "FORCE_COLOR"):  # a kernel asks for colours, which a page shows as codes
    os.environ.pop(name, None)
os.environ |= hub.environment(Path(place.name) / "hub-cache")
