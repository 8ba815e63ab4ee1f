"""Finds the folder of a release by its name, without the Hub's library where it is on this machine."""

from __future__ import annotations

import re
from pathlib import Path

from loaders.corpus import is_path, no_folder
from loaders.errors import HubError, ReleaseError
from loaders.files.caches import refuse_cache
from loaders.files.paths import is_file, is_folder


def resolve(source: str) -> Path:
    """The folder of a release: an existing folder, or REPO[@TAG] downloaded into the Hub cache; `HF_HUB_OFFLINE=1` uses
    only the cache.

    Raises: ReleaseError when it is neither; HubError when the Hub does not answer, has no such data set or tag, or
    gave another commit than the tag names.
    """
    if is_folder(Path(source)):
        return Path(source)
    if is_file(Path(source)):
        do = "A file of caption pairs is checked by `bedside audit`"
        raise ReleaseError(source, found="is a file", expected="a release folder, or REPO[@TAG] on the Hub", do=do)
    repo, _, tag = source.partition("@")
    if is_path(source) or not re.fullmatch(r"[\w.-]+/[\w.-]+", repo) or source.endswith("@"):
        raise no_folder(source)
    from huggingface_hub import HfApi, constants, snapshot_download
    from huggingface_hub.errors import GatedRepoError, LocalEntryNotFoundError, RevisionNotFoundError

    from loaders.hub import hub_error, in_words

    revision = tag or "main"
    try:
        commit = None if constants.HF_HUB_OFFLINE else HfApi().dataset_info(repo, revision=revision).sha
        path = Path(snapshot_download(repo, repo_type="dataset", revision=revision))
    except Exception as error:  # the library does not check the replies it gets
        refuse_cache(error)
        # There is such a repository, or nobody asked for it: `HF_HUB_OFFLINE`.
        if isinstance(error, GatedRepoError | RevisionNotFoundError | LocalEntryNotFoundError):
            raise hub_error(error, source, repo) from error
        expected = "a folder, or a dataset and tag that you can read"
        raise HubError(source, found=f"no such folder, and {in_words(error)}", expected=expected) from error
    if commit is not None and path.name != commit:
        found, expected = f"commit {path.name} was downloaded", f"{commit}, which {revision} names on the Hub"
        raise HubError(source, found=found, expected=expected, do="Try again: the Hub may have changed or not answered")
    return path
