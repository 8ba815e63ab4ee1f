"""A double of Google's store of objects: the five requests that gcsfs makes for us, answered as its API documents them
(https://cloud.google.com/storage/docs/json_api/v1). No emulator of it runs in Python."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit


class GoogleStore(ThreadingHTTPServer):
    """The server; naming buckets in `objects` creates them. `forbidden` refuses every request."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.objects: dict[str, dict[str, bytes]] = {}
        self.one_at_a_time = threading.Lock()
        self.forbidden = False
        self.variables = {"STORAGE_EMULATOR_HOST": f"http://127.0.0.1:{self.server_port}"}

    @contextmanager
    def running(self) -> Iterator[GoogleStore]:
        """The server while it runs."""
        thread = threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self.shutdown()
            self.server_close()
            thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: GoogleStore

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        names, asked = self._asked()
        objects = self.server.objects.get(names[0])
        if self.server.forbidden or objects is None or (len(names) > 2 and names[2] not in objects):
            self._refuse(403 if self.server.forbidden else 404)
        elif len(names) > 2 and "alt" in asked:
            self._answer(200, objects[names[2]])
        elif len(names) > 2:
            self._answer(200, _facts(*names[::2], objects[names[2]]))
        else:
            found = {name: data for name, data in objects.items() if name.startswith(asked.get("prefix", ""))}
            self._answer(200, {"items": [_facts(names[0], *each) for each in sorted(found.items())]})

    def do_POST(self) -> None:
        names, asked = self._asked()
        sent = self.rfile.read(int(self.headers["Content-Length"]))
        _, head, body, _ = sent.split(
            b"--" + self.headers["Content-Type"].partition("boundary=")[2].strip('"').encode()
        )
        name = json.loads(head.partition(b"\n\n")[2])["name"]
        objects = self.server.objects.get(names[0])
        if self.server.forbidden or objects is None:
            self._refuse(403 if self.server.forbidden else 404)
            return
        with self.server.one_at_a_time:
            late = asked.get("ifGenerationMatch") == "0" and name in objects
            if not late:
                objects[name] = body.partition(b"\n\n")[2][:-1]
        self._refuse(412) if late else self._answer(200, _facts(names[0], name, objects[name]))

    def _asked(self) -> tuple[list[str], dict[str, str]]:
        """Bucket, `o` and the name of the object, if one is asked about; and the query string."""
        url = urlsplit(self.path)
        return [unquote(part) for part in url.path.partition("/b/")[2].split("/")], dict(parse_qsl(url.query))

    def _refuse(self, status: int) -> None:
        self._answer(status, {"error": {"code": status, "message": "a secret/key"}})

    def _answer(self, status: int, told: Any) -> None:
        data = told if isinstance(told, bytes) else json.dumps(told).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def _facts(bucket: str, name: str, data: bytes) -> dict[str, str]:
    then = {"updated": "2026-01-01T00:00:00Z", "timeCreated": "2026-01-01T00:00:00Z"}
    return {"kind": "storage#object", "name": name, "bucket": bucket, "size": str(len(data)), "generation": "1", **then}
