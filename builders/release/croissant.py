"""croissant.json of a release: what it holds, file by file and column by column, for tools that read Croissant 1.1.

    https://docs.mlcommons.org/croissant/docs/croissant-spec-1.1.html

It is built from the manifest, the head of the card, and the card's data statement, as the fields of responsible AI
(RAI): all that NeurIPS asks of a data set since 2026 are there. It holds no time; address and version are filled in
when the release is published.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from loaders.errors import InputError, how_many
from loaders.files.texts import check_text, read_text
from loaders.files.yaml_values import parse_yaml
from loaders.manifest import Config, Json, Manifest
from loaders.schema import features_of

CROISSANT = "croissant.json"
ADDED = ("url", "version", "datePublished", "creator")
"""Fields that only a published release has, or that only publishing can fill."""
VERSION, RAI = "http://mlcommons.org/croissant/1.1", "http://mlcommons.org/croissant/RAI/1.0"
PARQUET = "application/x-parquet"

STATEMENT = {
    "collection": ("How the data were collected", "rai:dataCollection"),
    "preparation": ("How they were prepared", "rai:dataPreprocessingProtocol"),
    "annotation": ("Who wrote and checked what was added", "rai:dataAnnotationProtocol"),
    "uses": ("What they are for", "rai:dataUseCases"),
    "limits": ("What they do not show", "rai:dataLimitations"),
    "biases": ("Whom they show, and whom not", "rai:dataBiases"),
    "sensitive": ("Personal and sensitive content", "rai:personalSensitiveInformation"),
    "impact": ("What may come of their use", "rai:dataSocialImpact"),
    "upkeep": ("Who keeps them, and how errors are mended", "rai:dataReleaseMaintenancePlan"),
}
"""The parts of a data statement: name in the head of a card -> heading, and property of Croissant."""

STATED = "statement"
"""The setting of a release that holds, by name, the SHA-256 of each part that its maintainer stated."""

_TYPES = {"string": "sc:Text", "large_string": "sc:Text", "bool": "sc:Boolean", "binary": "sc:Text"}
_OF_CROISSANT = (
    "annotation arrayShape citeAs column containedIn equivalentProperty extract field fileObject fileProperty fileSet "
    "format includes isArray isLiveDataset jsonPath key md5 parentField path recordSet references regex repeated "
    "replace samplingRate separator source subField transform"
).split()
_CONTEXT: Json = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "prov": "http://www.w3.org/ns/prov#",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "sc": "https://schema.org/",
    **{name: f"cr:{name}" for name in _OF_CROISSANT},
}


def croissant(manifest: Manifest, head: Mapping[str, Any], statement: Mapping[str, str], bibtex: str) -> str:
    """The text of croissant.json; `head` is the filled YAML of the card, `statement` its parts by name."""
    link, by = head.get("license_link"), head.get("annotations_creators") or []
    said: Json = {
        "@context": dict(sorted(_CONTEXT.items())),
        "@type": "sc:Dataset",
        "conformsTo": [VERSION, RAI],
        "name": str(head["pretty_name"]),
        "description": " ".join(filter(None, [statement.get("uses", ""), _facts(manifest)])),
        "license": str(link or head["license"]),
        "keywords": [*head.get("tags", []), *head.get("task_categories", [])],
        "inLanguage": head.get("language", []),
        "creator": {"@type": "sc:Organization", "name": "whoever publishes this release"},
        "citeAs": bibtex,
        **{STATEMENT[name][1]: text for name, text in statement.items()},
        # Never denied: texts that a source holds may be made as well.
        "rai:hasSyntheticData": bool(manifest.stand_in) or "machine-generated" in by,
        "prov:wasDerivedFrom": [
            {"@type": "sc:Dataset", "name": one.name, "license": one.licence, **({"url": one.url} if one.url else {})}
            for one in manifest.sources
        ],
        "prov:wasGeneratedBy": [
            {"@type": "prov:Activity", "prov:label": STATEMENT[name][0], "description": statement[name]}
            for name in ("collection", "preparation", "annotation")
            if name in statement
        ],
        "distribution": list(_files(manifest)),
        "recordSet": [_records(manifest, config) for config in manifest.named_configs()],
    }
    return json.dumps({name: value for name, value in said.items() if value}, ensure_ascii=False, indent=1) + "\n"


def named_croissant(text: str, address: str, tag: str, date: str = "") -> str:
    """The croissant.json of a release at that address under that tag, published on that date if one is given.

    Its creator is the owner of the repository, not the software that built the data set.
    """
    hub, _, repository = address.rpartition("/datasets/")
    owner = repository.partition("/")[0]
    creator = {"@type": "sc:Organization", "name": owner, "url": f"{hub}/{owner}"}
    document = json.loads(text) | {"url": address, "version": tag.removeprefix("v"), "creator": creator}
    return json.dumps(document | ({"datePublished": date} if date else {}), ensure_ascii=False, indent=1) + "\n"


def read_statement(path: Path) -> dict[str, str]:
    """The parts of a data statement in a YAML file, one text each. Raises: InputError."""
    parts = parse_yaml(read_text(path, expected="a data statement"), path)
    expected = f"a text each for some of {', '.join(STATEMENT)}"
    if not isinstance(parts, dict) or not parts:
        raise InputError(path, found="no parts by name", expected=expected)
    for name, text in parts.items():
        if name not in STATEMENT or not isinstance(text, str) or not text.strip():
            found = f"{name}: {'no such part' if name not in STATEMENT else 'no text'}"
            raise InputError(path, found=found, expected=expected)
        check_text(text, path, name)
    return {name: " ".join(parts[name].split()) for name in STATEMENT if name in parts}


def text_digest(text: str) -> str:
    """SHA-256 of a text that a maintainer stated."""
    return hashlib.sha256(text.encode()).hexdigest()


def stated(heading: str, text: str) -> str:
    """A part of the data statement as it appears in a card."""
    return f"**{heading}.** {text}"


def _facts(manifest: Manifest) -> str:
    parts = [f"{how_many(manifest.rows, 'row')}, corpus {manifest.corpus}, content {manifest.content_digest}."]
    parts += [f"Stand-in: {manifest.stand_in}."] if manifest.stand_in else []
    return " ".join(filter(None, [*parts, manifest.canary]))


def _files(manifest: Manifest) -> Iterator[Json]:
    for name in manifest.shards(*manifest.splits):
        facts = manifest.files[name]
        yield {
            **_named("cr:FileObject", name),
            "contentUrl": name,
            "contentSize": f"{facts.size} B",
            "encodingFormat": PARQUET,
            "sha256": facts.sha256,
        }
    for config in manifest.named_configs():
        if len(manifest.shards(*config.splits)) > 1:  # the records of one file are read from itself
            yield {
                **_named("cr:FileSet", f"files-of-{config.name}"),
                "encodingFormat": PARQUET,
                # They lie beside this file, in nothing: readers take `containedIn` to mean an archive.
                "includes": [f"data/{split}-*.parquet" for split in config.splits],
            }


def _named(kind: str, name: str) -> Json:
    return {"@type": kind, "@id": name, "name": name}


def _records(manifest: Manifest, config: Config) -> Json:
    features = features_of(manifest, manifest.corpus)
    names = manifest.shards(*config.splits)
    files: Json = (
        {"fileObject": {"@id": names[0]}} if len(names) == 1 else {"fileSet": {"@id": f"files-of-{config.name}"}}
    )
    return {
        **_named("cr:RecordSet", config.name),
        "description": f"Splits: {', '.join(config.splits)}.",
        "key": {"@id": f"{config.name}/{manifest.key}"},
        "field": [
            _field(f"{config.name}/{name}", name, features[name], files, name, ())
            for name in config.columns or features
        ],
    }


def _field(place: str, name: str, feature: Any, files: Json, column: str, path: tuple[str, ...]) -> Json:
    """A column, or a part of one; `path` leads from the column to it."""
    import datasets

    source: Json = {**files, "extract": {"column": column}}
    several = isinstance(feature, list | datasets.List | datasets.LargeList)
    if steps := (*path, *["bytes"] * isinstance(feature, datasets.Image)):
        source["transform"] = [{"jsonPath": step} for step in steps]
    said: Json = {"@type": "cr:Field", "@id": place, "name": name, "source": source}
    if several:
        feature = feature[0] if isinstance(feature, list) else feature.feature
        said |= {"isArray": True, "arrayShape": "-1"}
    if isinstance(feature, dict):
        parts = (_field(f"{place}/{part}", part, one, files, column, (*path, part)) for part, one in feature.items())
        return said | {"subField": list(parts)}
    if isinstance(feature, datasets.Image):
        return said | {"dataType": "sc:ImageObject"}
    kind = str(getattr(feature, "dtype", "string"))
    number = "sc:Float" if kind.startswith("float") else "sc:Integer" if kind.lstrip("u").startswith("int") else ""
    return said | {"dataType": _TYPES.get(kind, number or "sc:Text")}
