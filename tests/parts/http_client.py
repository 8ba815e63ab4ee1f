"""The HTTP client that this version of `huggingface_hub` speaks through: httpx2, or httpx before 2.0."""

from importlib import import_module
from typing import Any

from loaders.hub import HTTP_ERROR

httpx: Any = import_module(HTTP_ERROR.__module__.partition(".")[0])
