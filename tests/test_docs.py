"""What README and CONTRIBUTING link to is there; the links of `docs/` are Sphinx's to check."""

from __future__ import annotations

import re

import pytest

from tests.parts.places import ROOT


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_links_lead_to_files_and_headings(page: str) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)(?:#([^)]+))?\)", (ROOT / page).read_text(encoding="utf-8"))
    assert links and not [path for path, _ in links if not (ROOT / path).is_file()]
    for path, heading in links:
        heads = re.findall(r"^#+ (.+)$", (ROOT / path).read_text(encoding="utf-8"), re.M) if heading else []
        assert not heading or heading in [re.sub(r"[^\w -]", "", head).lower().replace(" ", "-") for head in heads]
