"""A store of objects on this machine, by moto, behind a door that can refuse, watch, or kill who knocks."""

from __future__ import annotations

import threading
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

KEY, SECRET = "AKIAEXAMPLEEXAMPLE01", "very/secret+key"

Refusal = Callable[[str, str], tuple[int, str] | None]
"""The reply to a request, by its method and path, in place of the store's:
status and code; None for the store's own."""


class ObjectStore:
    """The server; `variables` are what its clients need in their environment."""

    def __init__(self) -> None:
        from moto.moto_server.werkzeug_app import create_backend_app  # here: if it is missing, tests are skipped
        from werkzeug.serving import WSGIRequestHandler, make_server

        class Quiet(WSGIRequestHandler):
            def log_request(self, *_: object) -> None:
                pass

        self._store, self._names = create_backend_app("s3"), count()
        self._server = make_server("127.0.0.1", 0, self._answer, threaded=True, request_handler=Quiet)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self.requests: list[tuple[str, str]] = []
        self.refuse: Refusal | None = None
        self.variables = {
            "AWS_ENDPOINT_URL": self.url,
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_MAX_ATTEMPTS": "2",  # by default they try five times
        }

    def _answer(self, environment: Any, start: Any) -> Any:
        method, path = environment["REQUEST_METHOD"], environment["PATH_INFO"]
        self.requests.append((method, path))
        refused = self.refuse(method, path) if self.refuse else None
        if refused is None:
            return self._store(environment, start)
        status, code = refused
        environment["wsgi.input"].read(int(environment.get("CONTENT_LENGTH") or 0))
        start(f"{status} Refused", [("Content-Type", "application/xml")])
        return [f"<Error><Code>{code}</Code><Message>{KEY} {SECRET}</Message></Error>".encode()]

    def bucket(self) -> str:
        """The address of a new bucket."""
        name = f"bucket-{next(self._names)}"
        with urllib.request.urlopen(urllib.request.Request(f"{self.url}/{name}", method="PUT")):
            return f"s3://{name}"

    def seen(self, method: str, part: str) -> int:
        """The number of requests with that method and this in their path."""
        return sum(each == method and part in path for each, path in self.requests)

    @contextmanager
    def refusing(self, refuse: Refusal) -> Iterator[None]:
        """Within it, the door refuses as `refuse` says."""
        self.refuse = refuse
        try:
            yield
        finally:
            self.refuse = None

    @contextmanager
    def running(self) -> Iterator[ObjectStore]:
        """The server while it runs."""
        thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            thread.join()
