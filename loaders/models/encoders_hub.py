"""Files of encoders from the Hub's cache or the Hub, with one clear error for each that is missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from huggingface_hub import constants, hf_hub_download, is_offline_mode, snapshot_download
from huggingface_hub.errors import (
    EntryNotFoundError,
    HfHubHTTPError,
    LocalEntryNotFoundError,
    RepositoryNotFoundError,
)

from loaders.errors import ModelError
from loaders.files.caches import refuse_cache
from loaders.files.paths import is_file

SMALL_FILES = ("*.json", "*.txt", "*.model")  # configurations and tokenizers, never weights
FETCH_SMALL = " ".join(f"--include '{pattern}'" for pattern in SMALL_FILES)
TOKENIZER_FILES = ("tokenizer.json", "vocab.txt", "vocab.json", "spiece.model", "sentencepiece.bpe.model")
_OTHER_KIND = {"open_clip_config.json": "hf", "config.json": "hf-hub"}  # what a repository without it may be

# Missing files, refusals and lost connections; an impossible repository name is a ValueError.
_ABSENT = (EntryNotFoundError, HfHubHTTPError, OSError, ValueError)


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository that `model` needs; `fetch` is what to add to `hf download` to get it, by default the file."""

    model: str
    repo: str
    fetch: str = ""
    kind: str = "model"

    def file(self, *names: str) -> Path:
        """The first of `names` that the repository has.

        Raises ModelError with the file, where it was looked for, and the command that fetches it.
        """
        problem: Exception | None = None
        for name in names:
            try:
                return Path(hf_hub_download(self.repo, name, repo_type=self.kind))
            except _ABSENT as error:
                problem = error
                if isinstance(error, RepositoryNotFoundError):
                    break
        raise self.missing(names[0], problem)

    def folder(self, *needs: Sequence[str]) -> Path:
        """The snapshot with the repository's small files; of each group in `needs`, one must be there.

        Raises ModelError as `file`.
        """
        try:
            folder = Path(snapshot_download(self.repo, allow_patterns=list(SMALL_FILES)))
        except _ABSENT as error:
            raise self.missing(needs[0][0], error) from error
        for group in needs:
            if not any(is_file(folder / name) for name in group):
                self.file(*group)
        return folder

    def missing(self, file: str, problem: Exception | None) -> ModelError:
        """The error for a file that is neither in the cache nor available.

        Raises: as `refuse_cache`, if it was the cache that failed.
        """
        if problem is not None:
            refuse_cache(problem)
        if isinstance(problem, RepositoryNotFoundError):
            found = f"the Hub has no repository {self.repo}, or you have no access to it"
            return ModelError(self.model, found=found, do="Check its name; if it is gated: hf auth login")
        if isinstance(problem, EntryNotFoundError) and not isinstance(problem, LocalEntryNotFoundError):
            do = "Download it, add this file, such as from the model that it was made from, and name the folder instead"
            if file in _OTHER_KIND and self.model.endswith(f":{self.repo}"):
                do = f"Perhaps it is one of the other kind: {_OTHER_KIND[file]}:{self.repo}"
            return ModelError(self.model, found=f"the repository {self.repo} has no {file}", do=do)
        where = Path(constants.HF_HUB_CACHE) / f"{self.kind}s--{self.repo.replace('/', '--')}"
        command = f"hf download {self.repo} " + (self.fetch or f"'{file}'")
        command += f" --repo-type {self.kind}" * (self.kind != "model")
        how = "To get it, with HF_HUB_OFFLINE unset: " if is_offline_mode() else "To get it: "
        found = f"{file} of {self.repo} is not on this machine"
        return ModelError(self.model, found=found, expected=f"in {where}", do=how + command)
