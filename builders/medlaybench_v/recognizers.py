"""Recognisers that need a model: MedCAT (the paper's C_onto) and spaCy or scispaCy pipelines (its C_ent).

Trust. A MedCAT pack is a tree of dill files, and reading a dill file runs whatever code its author put into it: no
pack is opened without the user's word (`--trust-model-pack`). A spaCy pipeline is data: JSON, msgpack without pickled
arrays, and a `config.cfg` that names functions already installed here. spaCy's own functions only read that data, so a
folder that names no others is opened as it is. Functions of other packages may unpickle or download (scispaCy's linker
does both), so a folder that names one needs the same word. A pipeline given by package name was installed by the user,
as code.
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from builders.medlaybench_v.concepts import Mention, cui_or_none
from loaders.errors import CHECK_PATH, CHECK_WHOLE, BedsideError, MissingExtra, ModelError
from loaders.files.disk import refuse_disk, scratch
from loaders.files.paths import entries, files_below, is_file, is_folder
from loaders.manifest import file_digest

TRUST_OPTION = "--trust-model-pack"

_SCISPACY_MODELS = "https://s3-us-west-2.amazonaws.com/ai2-s2-scispacy/releases/v0.5.4/{name}-0.5.4.tar.gz"
_NO_WORD = re.compile(r"\w{100,}")
_NOUN_LIKE = frozenset({"NOUN", "PROPN", "X"})


def folder_digest(folder: Path) -> str:
    """SHA-256 over the relative paths and contents of all files under `folder`."""
    whole = hashlib.sha256()
    for name, path in sorted((p.relative_to(folder).as_posix(), p) for p in files_below(folder)):
        whole.update(f"{file_digest(path)}  {name}\n".encode())
    return whole.hexdigest()


class MedcatRecognizer:
    """Concepts with their CUIs from a MedCAT 2 model pack, a folder or a .zip; a folder and its .zip have one identity.

    Identifiers that are not UMLS CUIs (SNOMED packs) are not passed on; their mentions are.

    Raises: ModelError if `trust` is not given, or the pack is missing, empty, truncated or something else; MissingExtra
    if MedCAT is not installed.
    """

    name = "medcat"

    def __init__(self, path: Path, trust: bool) -> None:
        self._path = path
        self._trust = trust
        _check_is_pack(path)
        if not trust:
            raise _untrusted(path, "a MedCAT pack, which runs its author's code when opened")
        # Importing MedCAT asks PyPI for a newer version unless told not to.
        os.environ.setdefault("MEDCAT_DISABLE_VERSION_CHECK", "true")
        with MissingExtra.needed("medcat", purpose="reading a MedCAT model pack"):
            from medcat.cat import CAT
        try:
            if is_folder(path):
                digest, self._cat = folder_digest(path), CAT.load_model_pack(str(path))
            else:
                # MedCAT itself unpacks beside the archive, and would reuse an older folder that it finds there.
                with scratch() as folder:
                    with zipfile.ZipFile(path) as archive:
                        archive.extractall(folder)
                    digest, self._cat = folder_digest(folder), CAT.load_model_pack(str(folder))
        except BedsideError:
            raise
        except Exception as error:  # a damaged pickle may raise anything
            refuse_disk(error, Path(tempfile.gettempdir()) if is_file(path) else path)
            raise ModelError(
                path,
                found=f"it cannot be opened: {_first_line(error)}",
                expected="a complete MedCAT 2 model pack",
                do="Download or save it again; a pack with a spaCy tokenizer also needs that spaCy model installed",
            ) from error
        self._cat.config.general.usage_monitor.enabled = False  # a pack may ask for usage logging
        self.identity = f"medcat {version('medcat')} sha256:{digest}"
        if self._cat.config.general.nlp.provider == "spacy":
            self.identity += f" spacy {version('spacy')}"

    def __reduce__(self) -> tuple[type[MedcatRecognizer], tuple[Path, bool]]:
        return type(self), (self._path, self._trust)

    def __call__(self, captions: Sequence[str]) -> list[list[Mention]]:
        return [self._mentions(caption) for caption in captions]

    def _mentions(self, caption: str) -> list[Mention]:
        # MedCAT tries every misspelling of a word: one of 20,000 letters takes it a minute. Blanks preserve the
        # offsets.
        text = _NO_WORD.sub(lambda word: " " * len(word[0]), caption)
        entities = self._cat.get_entities(text).get("entities", {})
        mentions = {
            Mention(e["start"], e["end"], caption[e["start"] : e["end"]], cui_or_none(e["cui"]), self.name)
            for e in entities.values()
        }
        return _in_order(mentions)


class SpacyRecognizer:
    """Entities of a spaCy or scispaCy pipeline, given as an installed package's name or as a folder.

    Entities whose head is no noun are left out where the pipeline tags parts of speech (ML-G4), unless they have a CUI.

    Raises: ModelError if there is no such pipeline, it cannot be opened, or its folder needs `trust` (see the module);
    MissingExtra if spaCy is not installed.
    """

    name = "spacy"

    def __init__(self, name_or_path: str | Path, trust: bool = False) -> None:
        self._name_or_path = name_or_path
        self._trust = trust
        with MissingExtra.needed("scispacy", purpose="reading a spaCy pipeline"):
            import spacy
        name = str(name_or_path)
        packaged = not isinstance(name_or_path, Path) and spacy.util.is_package(name)
        if not packaged:
            _check_pipeline_folder(Path(name), trust)
        try:
            self._nlp = spacy.load(name if packaged else Path(name))
        except Exception as error:  # spaCy passes on errors of JSON, msgpack, numpy and its own
            refuse_disk(error, Path(name))
            raise ModelError(
                name,
                found=f"it cannot be opened: {_first_line(error)}",
                expected="a complete spaCy pipeline of this spaCy version",
                do=f"Install or save it again with spaCy {spacy.__version__}",
            ) from error
        source = f"{name} {version(name)}" if packaged else f"sha256:{folder_digest(Path(name))}"
        self.identity = f"{source} spacy {spacy.__version__}"

    def __reduce__(self) -> tuple[type[SpacyRecognizer], tuple[str | Path, bool]]:
        return type(self), (self._name_or_path, self._trust)

    def __call__(self, captions: Sequence[str]) -> list[list[Mention]]:
        return [self._mentions(doc) for doc in self._nlp.pipe(captions)]

    def _mentions(self, doc: Any) -> list[Mention]:
        mentions = set()
        for entity in doc.ents:
            cui = cui_or_none(entity.kb_id_) or cui_or_none(entity.ent_id_)
            if cui or _noun_like(entity):
                mentions.add(Mention(entity.start_char, entity.end_char, entity.text, cui, self.name))
        return _in_order(mentions)


def _in_order(mentions: set[Mention]) -> list[Mention]:
    kept = (m for m in mentions if m.surface.strip())
    return sorted(kept, key=lambda m: (m.start, -m.end, m.cui or ""))


def _noun_like(entity: Any) -> bool:
    if not entity.doc.has_annotation("POS"):
        return True
    head = entity.root if entity.doc.has_annotation("DEP") else entity[-1]
    return head.pos_ in _NOUN_LIKE


def _first_line(error: Exception) -> str:
    text = str(error).strip().partition("\n")[0][:200]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _check_is_pack(path: Path) -> None:
    """Look at a MedCAT pack's file names, without opening any of its pickles."""
    expected = "a MedCAT model pack: a folder or .zip with model_card.json and cdb"
    if is_folder(path):
        names = {p.name for p in entries(path)}
    elif not is_file(path):
        raise ModelError(path, found="it does not exist", expected=expected, do=CHECK_PATH)
    elif path.stat().st_size == 0:
        raise ModelError(path, found="an empty file", expected=expected, do=CHECK_WHOLE)
    else:
        try:
            with zipfile.ZipFile(path) as archive:
                names = {name.partition("/")[0] for name in archive.namelist()}
        except Exception as error:  # a damaged archive may raise anything
            refuse_disk(error, path)
            raise ModelError(path, found=f"not a readable .zip ({error})", expected=expected) from error
    if "model_card.json" not in names or not names & {"cdb", "cdb.dat"}:
        holds = ", ".join(sorted(names)[:5]) or "nothing"
        raise ModelError(path, found=f"it holds {holds}", expected=expected)


def _check_pipeline_folder(folder: Path, trust: bool) -> None:
    """Raise ModelError unless `folder` is a spaCy pipeline that may be opened."""
    import spacy

    if not is_folder(folder):
        raise ModelError(
            folder,
            found="no installed package or folder of this name",
            expected="a spaCy pipeline",
            do=_how_to_install(str(folder)),
        )
    config_file = folder / "config.cfg"
    if not is_file(config_file):
        raise ModelError(folder, found="no config.cfg in it", expected="a folder written by spaCy's to_disk")
    try:
        config = spacy.util.load_config(config_file)
    except Exception as error:  # the parser's own errors have no common base
        refuse_disk(error, config_file)
        raise ModelError(
            config_file, found=f"it cannot be read: {_first_line(error)}", expected="a spaCy config"
        ) from error
    foreign = sorted(set(_foreign_functions(config)))
    if foreign and not trust:
        raise _untrusted(folder, f"a pipeline that calls functions from outside spaCy: {', '.join(foreign)}")


def _untrusted(path: Path, found: str) -> ModelError:
    do = f"Add {TRUST_OPTION} if you trust it"
    return ModelError(path, found=found, expected="confirmation that you trust its source", do=do)


def _how_to_install(name: str) -> str:
    if os.sep in name:
        return "Check the path"
    if re.fullmatch(r"en_(?:core_sci|ner)_\w+", name):
        return f"Install it with: pip install {_SCISPACY_MODELS.format(name=name)}"
    return f"Install it with: python -m spacy download {name}"


def _foreign_functions(config: Mapping[str, Any]) -> Iterator[str]:
    """Names in the sections that loading resolves, [nlp] and [components], that spaCy itself does not register."""
    import spacy

    for name, component in config.get("components", {}).items():
        factory = component.get("factory") if isinstance(component, Mapping) else None
        if factory is None or not spacy.registry.has("factories", factory):
            yield factory or name  # a component without a factory is taken from another pipeline
        elif not _is_spacys(spacy.registry.get("factories", factory)):
            yield factory
    waiting: list[Any] = [config.get("nlp", {}), config.get("components", {})]
    while waiting:
        section = waiting.pop()
        for key, value in section.items():
            if isinstance(value, Mapping):
                waiting.append(value)
            elif key.startswith("@") and not str(value).startswith(("spacy.", "spacy-legacy.")):
                yield str(value)


def _is_spacys(factory: Any) -> bool:
    """Was `factory` written in spaCy? `Language.component` wraps anybody's function into one of spaCy's own."""
    wrapped = (cell.cell_contents for cell in getattr(factory, "__closure__", None) or ())
    modules = (getattr(part, "__module__", None) or "spacy" for part in (factory, *wrapped))
    return all(module.partition(".")[0] == "spacy" for module in modules)
