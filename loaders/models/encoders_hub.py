"""Files of encoders from the Hub's cache or the Hub, with one clear error for each that is missing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from huggingface_hub import constants, hf_hub_download, is_offline_mode, snapshot_download
from huggingface_hub.errors import EntryNotFoundError, HfHubHTTPError, RepositoryNotFoundError

from loaders.errors import ModelError
from loaders.files.caches import refuse_cache
from loaders.files.paths import is_file

SMALL_FILES = ("*.json", "*.txt", "*.model")  # configurations and tokenizers, never weights
FETCH_SMALL = " ".join(f"--include '{pattern}'" for pattern in SMALL_FILES)
TOKENIZER_FILES = ("tokenizer.json", "vocab.txt", "vocab.json", "spiece.model", "sentencepiece.bpe.model")

# Missing files, refusals and lost connections; an impossible repository name is a ValueError.
_ABSENT = (EntryNotFoundError, HfHubHTTPError, OSError, ValueError)


def hub_file(
    model: str,
    repo: str,
    names: Sequence[str],
    *,
    cache_dir: Path | None,
    repo_type: str = "model",
    fetch: str = "",
) -> Path:
    """The first of `names` that the repository has; `fetch` is what to add to `hf download` to get it.

    Raises ModelError with the file, where it was looked for, and the command that fetches it.
    """
    problem: Exception | None = None
    for name in names:
        try:
            return Path(hf_hub_download(repo, name, repo_type=repo_type, cache_dir=cache_dir))
        except _ABSENT as error:
            problem = error
            if isinstance(error, RepositoryNotFoundError):
                break
    raise missing(model, repo, names[0], problem, cache_dir=cache_dir, repo_type=repo_type, fetch=fetch)


def hub_folder(
    model: str, repo: str, needs: Sequence[Sequence[str]], *, cache_dir: Path | None, fetch: str = FETCH_SMALL
) -> Path:
    """The snapshot with the repository's small files; of each group in `needs`, one must be there.

    Raises ModelError as `hub_file`.
    """
    try:
        folder = Path(snapshot_download(repo, allow_patterns=list(SMALL_FILES), cache_dir=cache_dir))
    except _ABSENT as error:
        raise missing(model, repo, needs[0][0], error, cache_dir=cache_dir, fetch=fetch) from error
    for group in needs:
        if not any(is_file(folder / name) for name in group):
            raise missing(model, repo, group[0], None, cache_dir=cache_dir, fetch=fetch)
    return folder


def missing(
    model: str,
    repo: str,
    file: str,
    problem: Exception | None,
    *,
    cache_dir: Path | None,
    repo_type: str = "model",
    fetch: str = "",
) -> ModelError:
    """The error for a file that is neither in the cache nor available.

    Raises: as `refuse_cache`, if it was the cache that failed.
    """
    if problem is not None:
        refuse_cache(problem)
    if isinstance(problem, RepositoryNotFoundError):
        found = f"the Hub has no repository {repo}, or you have no access to it"
        return ModelError(model, found=found, do="Check its name; if it is gated: hf auth login")
    where = Path(cache_dir or constants.HF_HUB_CACHE) / f"{repo_type}s--{repo.replace('/', '--')}"
    command = f"hf download {repo} " + (fetch or f"'{file}'")
    if repo_type != "model":
        command += f" --repo-type {repo_type}"
    if cache_dir is not None:
        command += f" --cache-dir '{cache_dir}'"
    how = "To get it, with HF_HUB_OFFLINE unset: " if is_offline_mode() else "To get it: "
    found = f"{file} of {repo} is not on this machine"
    return ModelError(model, found=found, expected=f"in {where}", do=how + command)
