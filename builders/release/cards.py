"""The card of a release: a template of `dataset_cards/`, filled with what was measured, under YAML that the Hub reads.

A template is Markdown with a YAML head. The head holds what a person decides (`pretty_name`, `license`, `language`,
`task_categories`, `tags`, `source_datasets`, `extra_gated_prompt`, …); what is measured (`configs`, `dataset_info`,
`size_categories`) is added here and may not be written in it. `{{ path.to.value }}`, in the text and in quoted strings
of the head, is replaced by a fact of the manifest:

    {{ splits.test.rows }}              a number, with thousands separated
    {{ statistics.modality }}           a mapping to numbers, as a table of two columns; counts, the largest first
    {{ statistics.modality_by_split }}  a mapping to mappings, as a table of both
    {{ statistics.examples }}           a list of mappings, as a table with their keys as columns
    {{ tables.splits }}                 ready: tables.splits, .configs, .stages, .exclusions, .sources, .files
    {{ statement }}  {{ citation }}     the data statement of the head, and BibTeX of its paper and of this software

Besides what the Hub knows, the head may hold `statement` (parts by name, `croissant.STATEMENT`) and `bibtex`: both
appear in the card and in croissant.json. Until it is published, a card has placeholders for its repository and version.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import yaml
from pydantic import JsonValue

from builders.release.croissant import STATEMENT, croissant, stated
from loaders import __version__
from loaders.errors import ReleaseError
from loaders.manifest import Config, Manifest, order_splits

if TYPE_CHECKING:
    import datasets

SOFTWARE = f"""@software{{bedside,
  title = {{Bedside: corpora and baselines about explaining medicine to patients}},
  author = {{{{The Bedside authors}}}},
  version = {{{__version__}}},
  license = {{MIT}}
}}"""
CARD = "README.md"
REPOSITORY, TAG, SAME_TAG = "<this repository>", "<one of its tags, such as v1.0.0>", "<the same tag>"
"""Placeholders in a card for the repository and the version as which it will be published."""
GATE_TEXT = "gate_text"
"""The setting of a release that holds the SHA-256 of the terms that its maintainer asks readers to accept."""
_HEAD = re.compile(r"\A---\n(.*?)\n---\n", re.DOTALL)
_PLACEHOLDER = re.compile(r"\{\{(.*?)\}\}")
_MEASURED = ("configs", "dataset_info", "size_categories")
_NEEDED = ("pretty_name", "license", "language", "task_categories")
_SIZES = ("1K", "10K", "100K", "1M", "10M", "100M", "1B", "10B", "100B", "1T")


def render_card(
    template: str,
    manifest: Manifest,
    *,
    facts: Mapping[str, JsonValue] | None = None,
    own: Mapping[str, str] | None = None,
    gating: str | None = None,
) -> str:
    """The README.md of a release.

    `facts` are values for placeholders beyond those of the manifest, `own` parts of the data statement that replace the
    template's (`croissant.read_statement`), `gating` what a reader must agree to before the Hub gives access
    (`extra_gated_prompt`). A field of the head that ends up empty is left out.

    Raises: ReleaseError when the template has no YAML head, lacks a field that the Hub needs, states what is measured,
    or holds a placeholder without a value.
    """
    fields, _, _, text = _filled(template, manifest, facts or {}, own or {})
    if gating is not None:
        fields["extra_gated_prompt"] = gating
    text = text.rstrip()
    if manifest.canary and manifest.canary not in text:
        text += f"\n\n<!-- {manifest.canary} -->"
    return f"---\n{_metadata(fields, manifest)}\n---\n{text}\n"


def _filled(
    template: str, manifest: Manifest, facts: Mapping[str, JsonValue], own: Mapping[str, str]
) -> tuple[dict[str, Any], dict[str, str], str, str]:
    """The filled template: the fields of its head, its data statement, BibTeX of its paper and of Bedside, its text."""
    values: dict[str, Any] = {**manifest.model_dump(), "rows": manifest.rows, "tables": _tables(manifest)}
    if taken := sorted(values.keys() & facts.keys()):
        raise ReleaseError("card", found=f"a fact named {taken[0]!r}", expected="a name that the manifest does not use")
    values |= facts
    head = _HEAD.match(template)
    if head is None:
        raise ReleaseError(
            "card", found="no YAML head", expected="a template that starts with a block between --- lines"
        )
    try:
        said = yaml.safe_load(head[1])
    except yaml.YAMLError as error:
        expected = "valid YAML, with quotes around a text that holds a placeholder"
        found = f"its YAML head cannot be read: {' '.join(str(error).split())}"
        raise ReleaseError("card", found=found, expected=expected) from error
    bibtex = str(said.pop("bibtex", "")).strip() if isinstance(said, dict) else ""  # its braces are BibTeX's own
    filled = _fill(said, values) if isinstance(said, dict) else {}
    statement = filled.pop("statement", None) or {}
    if not isinstance(statement, dict) or (unknown := sorted(statement.keys() - STATEMENT)):
        found = (
            f"a statement with {', '.join(unknown)}" if isinstance(statement, dict) else "a statement that is a text"
        )
        raise ReleaseError("card", found=found, expected=f"parts named {', '.join(STATEMENT)}")
    statement |= own
    statement = {name: " ".join(str(statement[name]).split()) for name in STATEMENT if name in statement}
    values["statement"] = "\n\n".join(stated(STATEMENT[name][0], text) for name, text in statement.items())
    cited = "\n\n".join(filter(None, (bibtex, SOFTWARE)))
    values["citation"] = f"```bibtex\n{cited}\n```"
    fields = {name: value for name, value in filled.items() if value != ""}
    return fields, statement, cited, _fill(template[head.end() :], values)


def render_croissant(
    template: str,
    manifest: Manifest,
    *,
    facts: Mapping[str, JsonValue] | None = None,
    own: Mapping[str, str] | None = None,
) -> str:
    """The croissant.json of a release whose card this template makes. Raises: ReleaseError as `render_card`."""
    return croissant(manifest, *_filled(template, manifest, facts or {}, own or {})[:3])


def named_card(text: str, repository: str, tag: str) -> str:
    """A card with the repository and the version that it was published as."""
    return text.replace(REPOSITORY, repository).replace(TAG, tag).replace(SAME_TAG, tag)


def size_category(rows: int) -> str:
    """The Hub's name for a number of rows.

    >>> size_category(999), size_category(8_179)
    ('n<1K', '1K<n<10K')
    """
    for number, name in enumerate(_SIZES):
        if rows < 10 ** (3 + number):
            return f"{_SIZES[number - 1]}<n<{name}" if number else f"n<{name}"
    return f"n>{_SIZES[-1]}"


def markdown_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table; numbers are aligned to the right, None is an empty cell.

    >>> print(markdown_table(["modality", "rows"], [["CT", 1200], ["MRI", 7]]))
    | modality | rows |
    |---|---:|
    | CT | 1,200 |
    | MRI | 7 |
    """
    cells = [list(row) for row in rows]
    present = [[row[i] for row in cells if row[i] is not None] for i in range(len(columns))]
    numeric = [bool(column) and all(isinstance(cell, int | float) for cell in column) for column in present]
    lines = [columns, *([_text(cell) for cell in row] for row in cells)]
    shown = [f"| {' | '.join(_escape(cell) for cell in line)} |" for line in lines]
    shown.insert(1, "|" + "".join("---:|" if right else "---|" for right in numeric))
    return "\n".join(shown)


def _metadata(fields: dict[str, Any], manifest: Manifest) -> str:
    """The YAML block: the template's fields and what was measured, in the classes of the libraries that read it."""
    from datasets.info import DatasetInfosDict
    from datasets.utils.metadata import MetadataConfigs
    from huggingface_hub import DatasetCardData

    for name in _MEASURED:
        if name in fields:
            raise ReleaseError("card", found=f"the template states {name!r}", expected="it to be left to measurement")
    needed = (*_NEEDED, "license_name", "license_link") if fields.get("license") == "other" else _NEEDED
    for name in needed:
        if not fields.get(name):
            raise ReleaseError(
                "card", found=f"no {name!r} in the YAML head of the template", expected="the Hub's field"
            )
    data = DatasetCardData(**fields, size_categories=[size_category(manifest.rows)])
    configs, infos = {}, {}
    for number, config in enumerate(manifest.named_configs()):
        configs[config.name] = config_metadata(config, first=number == 0)
        infos[config.name] = config_info(manifest, config)
    MetadataConfigs(configs).to_dataset_card_data(data)
    DatasetInfosDict(infos).to_dataset_card_data(data)
    return str(data.to_yaml(line_break="\n"))


def config_metadata(config: Config, *, first: bool) -> dict[str, Any]:
    """What the YAML says about a config: the files of its splits, and which columns are read if not all are."""
    said: dict[str, Any] = {"data_files": [{"split": split, "path": f"data/{split}-*"} for split in config.splits]}
    if config.columns is not None:
        said["columns"] = config.columns
    return said | ({"default": True} if first else {})


def config_info(manifest: Manifest, config: Config) -> datasets.DatasetInfo:
    """What is known about a config before it is loaded; a split is counted with all of its columns."""
    import datasets

    features = datasets.Features._from_yaml_list(manifest.features)
    if config.columns is not None:
        features = datasets.Features({name: features[name] for name in config.columns})
    facts = {
        split: datasets.SplitInfo(split, manifest.splits[split].num_bytes, manifest.splits[split].rows)
        for split in config.splits
    }
    return datasets.DatasetInfo(
        features=features,
        splits=datasets.SplitDict(facts),
        download_size=sum(manifest.files[name].size for name in manifest.shards(*config.splits)),
        dataset_size=sum(manifest.splits[split].num_bytes for split in config.splits),
    )


def other_tables(card: str, manifest: Manifest) -> Iterator[tuple[str, str]]:
    """Tables of a card that differ from those of its manifest: a line of the card, and the line it should be.

    A table is recognised by the names of its columns. The order of lines is not checked, nor a template's own tables.
    """
    known: dict[_Line, list[list[_Line]]] = {}
    for made in (*_tables(manifest).values(), *_tables_of("", manifest.statistics)):
        if made.startswith("|"):
            head, *lines = _cells(made)
            known.setdefault(head, []).append(lines)
    known.pop(_cells("| file | bytes | SHA-256 |")[0], None)  # the card is made before all files are
    for stands in re.findall(r"^\|.*(?:\n\|.*)*", card, re.MULTILINE):
        head, *lines = _cells(stands)
        if head in known and lines not in known[head]:
            pairs = zip_longest(lines, known[head][0], fillvalue=("no line",))
            yield next((" | ".join(one), " | ".join(other)) for one, other in pairs if one != other)


_Line = tuple[str, ...]


def _cells(markdown: str) -> list[_Line]:
    """The lines of a Markdown table, header first, by the names of their columns and their content."""
    head, *lines = (re.split(r"(?<!\\) *\| *", line.strip())[1:-1] for line in markdown.split("\n"))
    order = sorted(range(len(head)), key=lambda at: (at > 0, head[at]))
    placed = [tuple(line[at] for at in order if at < len(line)) for line in (head, *lines[1:])]
    return [placed[0], *sorted(placed[1:])]


def _tables_of(name: str, value: object) -> Iterator[str]:
    """The tables in which a template may show a statistic."""
    if isinstance(value, Mapping) and value:
        yield _mapping_table(name, value)
        for inner_name, inner in value.items():
            yield from _tables_of(inner_name, inner)


def _tables(manifest: Manifest) -> dict[str, str]:
    splits = [(name, facts.rows) for name, facts in manifest.splits.items()]
    configs = [
        (f"`{c.name}`", ", ".join(c.splits), "all" if c.columns is None else len(c.columns))
        for c in manifest.named_configs()
    ]
    stages = [(s.name, s.rows_in, s.rows_out, sum(s.excluded.values())) for s in manifest.stages]
    excluded = [(s.name, reason, n) for s in manifest.stages for reason, n in sorted(s.excluded.items())]
    sources = [(s.name if s.url is None else f"[{s.name}]({s.url})", s.rows, s.licence) for s in manifest.sources]
    files = [(name, facts.size, f"`{facts.sha256[:16]}…`") for name, facts in sorted(manifest.files.items())]
    return {
        "splits": markdown_table(["split", "rows"], splits),
        "configs": markdown_table(["config", "splits", "columns"], configs),
        "stages": markdown_table(["stage", "rows in", "rows out", "excluded"], stages),
        "exclusions": markdown_table(["stage", "reason", "rows"], excluded) if excluded else "No row was excluded.",
        "sources": markdown_table(["source", "rows", "licence"], sources),
        "files": markdown_table(["file", "bytes", "SHA-256"], files),
    }


def _fill(value: Any, values: Mapping[str, Any]) -> Any:
    """The value with the placeholders of every text in it replaced."""
    if isinstance(value, dict):
        return {name: _fill(inner, values) for name, inner in value.items()}
    if isinstance(value, list):
        return [_fill(inner, values) for inner in value]
    if not isinstance(value, str):
        return value
    rest = _PLACEHOLDER.sub("", value)
    if "{{" in rest or "}}" in rest:
        raise ReleaseError("card", found="a placeholder that does not end", expected="{{ path.to.value }} on one line")
    return _PLACEHOLDER.sub(lambda match: _show(match[1].strip(), values), value)


def _show(path: str, values: Mapping[str, Any]) -> str:
    value: Any = values
    for step in path.split("."):
        if not isinstance(value, Mapping) or step not in value:
            known = f"one of {', '.join(map(str, value))}" if isinstance(value, Mapping) else "no further step"
            raise ReleaseError("card", found=f"{{{{ {path} }}}} has no value at {step!r}", expected=known)
        value = value[step]
    name = path.rpartition(".")[2]
    if isinstance(value, Mapping):
        return _mapping_table(name, value)
    if isinstance(value, list) and value and all(isinstance(item, Mapping) for item in value):
        columns = list(dict.fromkeys(column for item in value for column in item))
        return markdown_table(columns, [[item.get(column) for column in columns] for item in value])
    return ", ".join(map(_text, value)) if isinstance(value, list) else _text(value)


def _mapping_table(name: str, value: Mapping[str, Any]) -> str:
    if value and all(isinstance(inner, Mapping) for inner in value.values()):
        columns = list(dict.fromkeys(column for inner in value.values() for column in inner))
        if "test" in columns:
            columns = order_splits(columns)
        crossed = [[key, *(inner.get(column) for column in columns)] for key, inner in value.items()]
        return markdown_table([name.replace("_", " "), *columns], crossed)
    rows = list(value.items())
    counts = all(isinstance(number, int) for _, number in rows)
    if counts:
        rows.sort(key=lambda row: (-row[1], row[0]))
    return markdown_table([name.replace("_", " "), "rows" if counts else "value"], rows)


def _text(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}"
        case float():
            return f"{value:,.2f}" if abs(value) >= 1 else f"{value:.3g}"
    return str(value)


def _escape(cell: str) -> str:
    return " ".join(cell.split()).replace("|", "\\|").replace("<", "&lt;")
