"""A report as a static Space: one commit, never over what others put there; what the Hub says is one error."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from builders.publish.space import MARK, publish_page
from loaders.errors import HubError, InputError


class FakeApi:
    """A Hub's Spaces in memory, as `HfApi` speaks of them; the loopback Hub knows data sets only."""

    endpoint = "http://hub"

    def __init__(self, place: Path, files: dict[str, bytes] | None = None, broken: bool = False) -> None:
        self.place, self.files, self.broken, self.commits = place, dict(files or {}), broken, 0

    def create_repo(self, repo_id: str, **facts: Any) -> None:
        assert facts == {"repo_type": "space", "space_sdk": "static", "exist_ok": True}
        if self.broken:
            raise OSError("no route to the Hub")

    def list_repo_files(self, repo_id: str, *, repo_type: str) -> list[str]:
        return [*self.files]

    def hf_hub_download(self, repo_id: str, name: str, *, repo_type: str) -> str:
        (self.place / name).write_bytes(self.files[name])
        return str(self.place / name)

    def create_commit(self, repo_id: str, operations: list[Any], *, commit_message: str, repo_type: str) -> None:
        self.commits += 1
        for one in operations:
            content = one.path_or_fileobj
            self.files[one.path_in_repo] = content if isinstance(content, bytes) else Path(content).read_bytes()


def page(folder: Path, text: str = "<p>page</p>") -> Path:
    (folder / "report.html").write_text(text)
    return folder / "report.html"


def test_a_page_is_one_commit_and_may_follow_itself(tmp_path: Path) -> None:
    api: Any = FakeApi(tmp_path, {".gitattributes": b"", "README.md": b"---\nsdk: static\n---\n"})
    assert publish_page(page(tmp_path), "org/name", api=api) == "http://hub/spaces/org/name"
    assert api.files["index.html"] == b"<p>page</p>" and api.commits == 1
    assert b"sdk: static" in api.files["README.md"] and MARK.encode() in api.files["README.md"]
    publish_page(page(tmp_path, "<p>next</p>"), "org/name", api=api)
    assert api.files["index.html"] == b"<p>next</p>" and api.commits == 2


def test_a_page_of_others_is_not_overwritten(tmp_path: Path) -> None:
    api: Any = FakeApi(tmp_path, {"README.md": b"mine", "index.html": b"my page"})
    with pytest.raises(HubError, match="Bedside did not write"):
        publish_page(page(tmp_path), "org/name", api=api)
    assert api.files["index.html"] == b"my page" and not api.commits


@pytest.mark.parametrize("name", ["name", "org/na me", "a/b/c"])
def test_a_name_that_is_none_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="org/name"):
        publish_page(page(tmp_path), name)


def test_a_hub_that_does_not_answer_is_one_error(tmp_path: Path) -> None:
    api: Any = FakeApi(tmp_path, broken=True)
    with pytest.raises(HubError, match="Space org/name"):
        publish_page(page(tmp_path), "org/name", api=api)
