"""The embeddings of a finished run, from the cache or from where they were made; no encoder is opened."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NoReturn

from baselines.medlaybench_v.embedding_cache import stored_dim
from baselines.medlaybench_v.embeddings import Embeddings, embed
from baselines.medlaybench_v.own_embeddings import read_own
from baselines.results.run import VECTORS, ModelUsed
from loaders.errors import InputError
from loaders.models.encoder import Encoder
from loaders.opened import Opened
from scripts.run.stored import Stored
from scripts.terminal.embedding import images_of


class _Kept(Encoder):
    """An encoder of which only the embeddings remain."""

    stand_in = False
    context_length = 0

    def __init__(self, model: ModelUsed, dim: int) -> None:
        self.name, self.dim = model.name, dim
        self._key = str(model.revision)

    @property
    def identity(self) -> dict[str, str]:
        return {}

    @property
    def key(self) -> str:
        return self._key

    def _missing(self, *_: Any, **__: Any) -> NoReturn:
        raise _not_there(self.name, "some of its embeddings are missing from the cache")

    prepare = encode_prepared = encode_texts = _missing


def stored_embeddings(
    stored: Stored, texts: Mapping[str, Sequence[str]], opened: Opened | None = None
) -> list[tuple[str, Embeddings]]:
    """Name and embeddings of each encoder of a run, for captions by register and for the images of `opened`.

    Raises: InputError if some are not in the cache, or a user's own ones are not named, not those of the run, or
    have changed.
    """
    stored.read.add("--embeddings")
    own = [read_own(given, texts, images=opened is not None) for given in stored.embeddings]
    given = {(encoder.name, encoder.key): made for encoder, made in own}
    _check_own(given, stored.record.models)
    found = []
    for model in stored.record.models:
        made = given.get((model.name, str(model.revision)))
        if made is None:
            if model.source == VECTORS:
                do = f"Name them: --embeddings {model.name}=PLACE"
                raise _not_there(model.name, "embeddings made elsewhere, which no cache holds", do)
            dim = stored_dim(stored.cache / str(model.revision))
            if dim is None:
                raise _not_there(model.name, f"none of its embeddings are in {stored.cache}")
            images = images_of(opened) if opened is not None else ()
            made = embed(_Kept(model, dim), images=images, texts=texts, cache=stored.cache)
        found.append((model.name, made))
    return found


def _check_own(given: Iterable[tuple[str, str]], models: Sequence[ModelUsed]) -> None:
    """Raises InputError for embeddings that no encoder of the run made: unread, they would seem to be confirmed."""
    revisions = {model.name: str(model.revision) for model in models}
    for name, key in given:
        if name not in revisions:
            where, found = "--embeddings", f"{name!r}, which no encoder of the run is called"
            raise InputError(where, found=found, expected=" or ".join(map(repr, revisions)))
        if key != revisions[name]:
            found = f"embeddings with the digest {key[:16]}, others than the run's"
            do = "Name those that it used, unchanged; for these, run the baseline again"
            raise InputError(f"--embeddings {name}", found=found, expected=revisions[name][:16], do=do)


_NAME = "Name the run's cache (--cache), or the embeddings that it used (--embeddings NAME=PLACE)"


def _not_there(name: str, found: str, do: str = _NAME) -> InputError:
    return InputError(name, found=found, expected="the embeddings of the run", do=do)
