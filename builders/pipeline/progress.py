"""What a stage of a build shows: a bar on a terminal, a few plain lines anywhere else."""

from __future__ import annotations

from rich.progress import Progress

from loaders.errors import how_many


class Meter:
    """The progress of one stage over `rows` rows (None: not yet known) in `batches` batches; `unit` is one of them."""

    def __init__(
        self, progress: Progress | None, name: str, *, rows: int | None, batches: int, unit: str = "row"
    ) -> None:
        self.name = name
        self.unit = unit
        self.rows = rows
        self.batches = batches
        self._progress = progress
        self._plain = progress is not None and not progress.console.is_terminal
        self._done = 0
        self._tenths = 0
        self._resumed = 0
        self._task = progress.add_task(name, total=rows) if progress is not None and not self._plain else None

    def advance(self, rows: int, *, resumed: bool = False) -> None:
        """One more batch is done: just now, or in an earlier run."""
        self._done += rows
        self._resumed += resumed
        if self._progress is None:
            return
        if self._task is not None:
            self._progress.update(self._task, advance=rows, description=self.name + self._note())
        elif not resumed and self.rows and self._tenths < self._done * 10 // self.rows < 10:
            self._tenths = self._done * 10 // self.rows
            self._line(f"{self.name}: {self._done:,} of {how_many(self.rows, self.unit)}")

    def finish(self, excluded: int) -> None:
        """Report the end of the stage."""
        if self._progress is not None and self._task is not None:
            self._progress.update(self._task, total=self._done)
        if self._plain:
            self._line(f"{self.name}: {how_many(self._done, self.unit)}, {excluded:,} excluded{self._note()}")

    def _note(self) -> str:
        if not self._resumed:
            return ""
        if self._resumed == self.batches:
            return " (resumed)"
        return f" (resumed: {self._resumed} of {self.batches} batches)"

    def _line(self, text: str) -> None:
        assert self._progress is not None
        self._progress.console.print(text, highlight=False, markup=False, soft_wrap=True)
