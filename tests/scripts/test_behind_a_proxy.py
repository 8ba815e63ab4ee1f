"""A machine that has nothing yet and no way out but a proxy: build with photos from the web, publish, load."""

from __future__ import annotations

import json
from pathlib import Path

from tests.parts.faulty_hub import FaultyHub
from tests.parts.photo_server import PhotoServer, redirects, sends
from tests.parts.pictures import photo
from tests.parts.processes import printed
from tests.parts.proxy import Proxy

LIFE = """
import json, sys
from scripts.cli import execute
for line in json.loads(sys.argv[1]):
    assert execute(line) == 0, line
from datasets import load_dataset
import bedside

plain = load_dataset("org/photos", revision="v1.0.0")
ours = bedside.load("3mdbench", source="org/photos", revision="v1.0.0")
print(json.dumps({name: [sorted(split["image_id"]) for split in (plain[name], ours[name])] for name in plain}))
"""


def test_build_with_photos_from_the_web_publish_and_load(tmp_path: Path) -> None:
    pages = {f"/{name}{n}.jpg": sends(photo(name, n)) for name in ("acne", "warts") for n in range(5)}
    table = [f"http://photos.example{path},{path[1:-5]},CC0" for path in pages]
    pages["/inside.jpg"] = redirects("http://169.254.169.254/latest/meta-data")
    table = ["url,label,licence", *table, "http://photos.example/inside.jpg,acne,CC0"]
    (tmp_path / "photos.csv").write_text("\n".join(table) + "\n")
    # Names that only the proxy knows: what is reached, is reached through it.
    with (
        PhotoServer(pages) as photos,
        FaultyHub(url="http://hub.example") as hub,
        Proxy({"photos.example": photos.address, "hub.example": hub.address}, login="ann:secret") as proxy,
    ):
        machine = hub.environment(tmp_path / "hf") | proxy.environment | {"HOME": str(tmp_path / "home")}
        release, source = tmp_path / "release", f"table={tmp_path / 'photos.csv'}"
        build = ["build", "3mdbench", "--source", source, "--out", str(release), "--pause", "0", "--workers", "1"]
        publish = ["publish", str(release), "org/photos", "--tag", "v1.0.0"]
        said = printed("-c", LIFE, json.dumps([build, publish]), **machine)
        loaded = json.loads(said.splitlines()[-1])
    assert "secret" not in said
    assert all(plain == ours for plain, ours in loaded.values())
    assert sum(len(plain) for plain, _ in loaded.values()) > 2  # the others fell to curation
    assert {f"GET http://photos.example{path}" for path in pages} <= set(proxy.asked)
    assert "POST http://hub.example/api/datasets/org/photos/commit/main" in proxy.asked
    assert not any("169.254" in line for line in proxy.asked)
