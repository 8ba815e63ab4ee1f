"""One function over many things in threads, results in order: decoding and OpenCV release Python's lock at work."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

from builders.curation.opencv import cv2

Item = TypeVar("Item")
Result = TypeVar("Result")

_AHEAD = 4  # things under way for each worker


def in_order(function: Callable[[Item], Result], items: Iterable[Item], workers: int) -> Iterator[Result]:
    """`map` in `workers` threads; only a few items are taken ahead of the result that is asked for.

    Closing the iterator (or an interrupt) gives up what has not been started.
    """
    if workers == 1:
        yield from map(function, items)
        return
    pool = ThreadPoolExecutor(workers)
    waiting: deque[Future[Result]] = deque()
    try:
        for item in items:
            waiting.append(pool.submit(function, item))
            if len(waiting) >= _AHEAD * workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def single_threaded_opencv() -> Iterator[None]:
    """Keep OpenCV from starting threads of its own inside ours."""
    before = cv2.getNumThreads()
    cv2.setNumThreads(1)
    try:
        yield
    finally:
        cv2.setNumThreads(before)
