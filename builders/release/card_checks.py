"""Whether the card of a release says what its manifest says: configs and columns, tables, and the licence; and whether
croissant.json says what both do."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from itertools import takewhile
from pathlib import Path
from typing import Any, cast

import yaml
from datasets.utils.metadata import MetadataConfigs
from huggingface_hub import DatasetCard
from huggingface_hub.repocard import REGEX_YAML_BLOCK

from builders.licences import UNKNOWN, covers, read_licence
from builders.release.cards import CARD, GATE_TEXT, config_info, config_metadata, other_tables, size_category
from builders.release.croissant import CROISSANT, STATED, STATEMENT, croissant, named_croissant, stated, text_digest
from builders.release.diff import by_name, changes
from loaders.errors import InputError
from loaders.files.json_values import read_object
from loaders.files.paths import is_file
from loaders.files.texts import read_text
from loaders.files.yaml_values import parse_yaml
from loaders.manifest import Config, Manifest, Problem, as_text

_MOST_CARD = 4 << 20
_SHOWN = 200  # characters to show of a value that differs


def read_card(folder: Path) -> str:
    """The text of a card. Raises: InputError for one that cannot be read, or is far too long."""
    return read_text(folder / CARD, most=_MOST_CARD, expected="a card")


def _head(card: str) -> Any:
    """The YAML of a card, where the Hub's library finds it; None if there is none. Raises: InputError."""
    head = REGEX_YAML_BLOCK.search(card)
    return parse_yaml(head[2], CARD) if head else None


def check_card(folder: Path, manifest: Manifest, card: str | None, *, tables: bool) -> Iterator[Problem]:
    """What is wrong with a card, whose text is `card` if its digest is right."""
    if is_file(folder / CARD):
        yield from _check_yaml(folder, manifest)
        if card is not None:
            for stands, made in other_tables(card, manifest) if tables else ():
                yield Problem(f"{CARD}: a table", stands, f"{made}, as the manifest counts")
            yield from _check_terms(card, manifest)
    elif CARD not in manifest.files:
        yield Problem(CARD, "not listed in the manifest", "a card")


def _check_yaml(folder: Path, manifest: Manifest) -> list[Problem]:
    """The YAML of the card against the manifest: what the Hub and `load_dataset` would believe."""
    where = f"{CARD}: YAML"
    try:
        text = read_card(folder)
        _head(text)  # first, since the reader below is less careful
        data = DatasetCard(text).data
        raw, said = data.get("dataset_info"), MetadataConfigs.from_dataset_card_data(data)
        infos = {one.get("config_name", "default"): one for one in (raw if isinstance(raw, list) else [raw])}
        problems = []
        if (stated := data.get("size_categories")) != (sizes := [size_category(manifest.rows)]):
            problems.append(Problem(f"{where}: size_categories", str(stated), str(sizes)))
        configs = manifest.named_configs()
        if configs[0].columns is not None and data.get("viewer") is not False:  # the viewer shows every config
            expected = f"false: config {configs[0].name} leaves columns out, which readers are not to meet by chance"
            problems.append(Problem(f"{where}: viewer", str(data.get("viewer")), expected))
        for found in (set(infos), set(said)):
            if found != {config.name for config in configs}:
                problems.append(Problem(where, f"configs {sorted(found)}", str([config.name for config in configs])))
        for number, config in enumerate(configs):
            at = where if len(configs) == 1 else f"{where}: config {config.name}"
            problems += _check_config(at, manifest, config, infos[config.name], said[config.name], first=number == 0)
    except InputError as error:
        return [Problem(where, error.found, error.expected)]
    except (ValueError, KeyError, TypeError, AttributeError, yaml.YAMLError) as error:
        return [Problem(where, f"cannot be used: {type(error).__name__} {error}", "configs and dataset_info")]
    return problems


def _check_terms(card: str, manifest: Manifest) -> Iterator[Problem]:
    """Whether the licence of the whole covers those of the rows, if the statistics count them, and whether the gate is
    the maintainer's."""
    counted = manifest.statistics.get("licence") if isinstance(manifest.statistics, dict) else None
    try:
        said = _head(card)
    except InputError:
        return  # already reported
    if not isinstance(said, dict):
        return
    if (gate := manifest.settings.get(GATE_TEXT)) and text_digest(str(said.get("extra_gated_prompt"))) != gate:
        yield Problem(f"{CARD}: YAML: extra_gated_prompt", "another text", f"SHA-256 {gate}, of the manifest")
    if not isinstance(counted, dict):
        return
    for field in ("license", "license_name", "license_link"):
        stated = said.get(field)
        for licence in map(str, stated if isinstance(stated, list) else [stated]):  # the Hub reads a list as well
            vague = field != "license" and read_licence(licence).derivatives == UNKNOWN  # a name of the maintainer's
            if not vague and (not stated or not covers(licence, counted)):
                expected = f"terms that cover its rows: {', '.join(sorted(counted))}"
                yield Problem(f"{CARD}: YAML: {field}", licence, expected)


def _check_config(
    where: str, manifest: Manifest, config: Config, info: Mapping[str, Any], said: Mapping[str, Any], *, first: bool
) -> list[Problem]:
    """What the card says about one config against what would be generated now."""
    metadata, generated = config_metadata(config, first=first), config_info(manifest, config)._to_yaml_dict()
    # In the words of the version of `datasets` that wrote both.
    generated["features"] = [f for f in manifest.features if config.columns is None or f["name"] in config.columns]
    stated, made = (
        {"configs": dict(one), "dataset_info": {n: by_name(fact) for n, fact in of_data.items() if n != "config_name"}}
        for one, of_data in ((said, info), (metadata, generated))
    )
    return [Problem(f"{where}: {one.where}", str(one.a), str(one.b)) for one in changes("", stated, made)]


def check_croissant(folder: Path, manifest: Manifest, card: str) -> Iterator[Problem]:
    """Where croissant.json is not what the manifest and the card make of it. Of what only publishing adds (`ADDED`), a
    published one may say what it likes, but for its creator, who is the owner of its repository."""
    try:
        stored = read_object(folder / CROISSANT)
        statement = {name: text[1] for name, (heading, _) in STATEMENT.items() if (text := _part(heading, card))}
        blocks = (part.partition("\n```")[0] for part in card.split("\n```bibtex\n")[1:])
        cited = next((block for block in blocks if "@software{bedside," in block), stored.get("citeAs", ""))
        made = croissant(manifest, _head(card) or {}, statement, cited)
        if "url" in stored:
            made = named_croissant(made, stored["url"], stored["version"], stored.get("datePublished", ""))
        for name, digest in cast(dict[str, str], manifest.settings.get(STATED) or {}).items():
            if text_digest(statement.get(name, "")) != digest:
                heading, place = STATEMENT[name]
                expected = f"SHA-256 {digest}, of the manifest"
                yield Problem(f"{CROISSANT}: {place}", f"another text on {heading!r}", expected)
        parts = ({name: by_name(part) for name, part in whole.items()} for whole in (stored, json.loads(made)))
        for change in changes("", *parts):
            texts = ["nothing" if value is None else as_text(value) for value in (change.a, change.b)]
            same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(*texts, strict=False)))
            begin = max(same - 20, 0)  # in long texts, only what differs is shown
            found, expected = ("…" * bool(begin) + text[begin : begin + _SHOWN] for text in texts)
            yield Problem(f"{CROISSANT}: {change.where}", found, f"{expected}, by manifest and card")
    except InputError as error:
        yield Problem(CROISSANT, error.found, error.expected)
    except (KeyError, TypeError, AttributeError) as error:
        yield Problem(CROISSANT, f"cannot be used: {type(error).__name__} {error}", "what manifest and card say")


def _part(heading: str, card: str) -> re.Match[str] | None:
    """A part of the data statement in a card."""
    return re.search(f"^{re.escape(stated(heading, ''))}(.+)$", card, re.MULTILINE)
