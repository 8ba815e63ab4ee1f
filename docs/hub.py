"""What a tutorial begins with, so that it needs no network: a folder of its own with the sample releases, and a Hub on
this machine. With the real Hub none of it is needed.
"""

import os
import shutil
import subprocess
import tempfile
import warnings
from pathlib import Path

from IPython.core.magic import register_cell_magic

from scripts.loopback_hub.hub import LoopbackHub

place = tempfile.TemporaryDirectory()
built = Path(__file__).parent / "_build" / "run" / "releases"
shutil.copytree(built, Path(place.name) / "releases", ignore=shutil.ignore_patterns("*.work", "*.log"))
os.chdir(place.name)
hub = LoopbackHub().__enter__()
for name in ("CLICOLOR", "CLICOLOR_FORCE", "FORCE_COLOR"):  # a kernel asks for colours, which a page shows as codes
    os.environ.pop(name, None)
os.environ |= hub.environment(Path(place.name) / "hub-cache")
warnings.filterwarnings("ignore", message="IProgress not found")


@register_cell_magic
def bash(line: str, cell: str) -> None:
    """As IPython's own, but for its output, which comes whole; an error ends the notebook with what was said."""
    done = subprocess.run(["bash", *line.split(), "-c", cell], capture_output=True, text=True, check=False)
    print(done.stdout, end="")
    if done.returncode:
        raise SystemError(done.stderr)
