"""A small Hugging Face Hub on the loopback interface (standard library only).

    with LoopbackHub() as hub:
        api = HfApi(endpoint=hub.url, token=hub.token)

The unmodified `huggingface_hub` and `datasets` talk to it through `HF_ENDPOINT` (see `LoopbackHub.environment`), with
`HF_HUB_DISABLE_XET=1`. It keeps what the real one keeps: repositories with content-addressed commits, branches, tags
and a store of large objects, in memory or in a folder; and it refuses what the real one refuses. Faults are scheduled
in advance, each for the next `times` requests that match a method and a route:

    hub.refuse("POST", "/commit/", 429, retry_after=7)      hub.lose_response("POST", "/commit/")
    hub.meanwhile("POST", "/commit/", lambda: hub.commit("org/name", {"notes.txt": b"hello"}))

`hub.requests` is the access log.
"""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

from scripts.loopback_hub.routes import Reply, Routes, as_json, find_route
from scripts.loopback_hub.store import Repo, Store


@dataclass
class Fault:
    """What happens to the next `left` requests whose method and path match."""

    kind: str  # refuse | refuse-done | answer | lose | cut | swallow… | damage | delay… | drip | meanwhile
    method: str
    route: re.Pattern[str]
    left: int
    hits: int = 0
    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    body: bytes = b""
    action: Callable[[], object] = lambda: None


class Request(NamedTuple):
    """One line of the access log; status 0 is a connection that was cut without a reply."""

    method: str
    path: str
    status: int
    changes: bool  # the route can change what the Hub holds
    fault: str  # kind of the fault that struck it, or ""


class LoopbackHub:
    """The Hub: `url`, three tokens, the log `requests`, the `store`, and the faults.

    With a folder it stores everything there and continues from what it finds. `page_size` applies to lists of files and
    commits; uploads above `part_size` bytes are multipart. `url` is its public address, possibly behind a proxy.
    """

    token = "hf_loopback_write"
    read_token = "hf_loopback_read"
    stranger_token = "hf_loopback_stranger"  # an account with no rights here

    def __init__(
        self, folder: Path | None = None, *, page_size: int = 1000, part_size: int = 5 * 1024**3, url: str = ""
    ) -> None:
        self.requests: list[Request] = []
        self.faults: list[Fault] = []
        self.store = Store(folder)
        self.lock = threading.RLock()
        self.closing = threading.Event()
        hub = self

        class BoundHandler(Handler):
            loopback = hub

        self.server = Server(("127.0.0.1", 0), BoundHandler)
        self.address = ("127.0.0.1", int(self.server.server_address[1]))
        self.url = url or f"http://127.0.0.1:{self.address[1]}"
        self.routes = Routes(self.store, self.url, page_size=page_size, part_size=part_size)
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    def __enter__(self) -> LoopbackHub:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self.server.shutdown()
        self.server.server_close()

    def environment(self, home: Path) -> dict[str, str]:
        """Variables with which a fresh process uses this Hub and no other, with an empty cache under `home`."""
        return {
            "HF_ENDPOINT": self.url,
            "HF_TOKEN": self.token,
            "HF_HOME": str(home),
            "HF_HUB_DISABLE_XET": "1",
            "HF_HUB_DISABLE_TELEMETRY": "1",
            "HF_HUB_DISABLE_PROGRESS_BARS": "1",
            "HF_HUB_OFFLINE": "0",
            "NO_PROXY": "127.0.0.1",
        }

    # ------------------------------------------------------------------ faults

    def _order(self, kind: str, method: str, route: str, times: int, **options: Any) -> Fault:
        fault = Fault(kind, method, re.compile(route), times, **options)
        with self.lock:
            self.faults.append(fault)
        return fault

    def refuse(
        self,
        method: str,
        route: str,
        status: int,
        *,
        times: int = 1,
        retry_after: int | None = None,
        although_done: bool = False,
    ) -> Fault:
        """Answer with this status and do nothing, or (as the real Hub has been seen to) although it was done."""
        headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
        kind = "refuse-done" if although_done else "refuse"
        return self._order(kind, method, route, times, status=status, headers=headers)

    def answer(
        self,
        method: str,
        route: str,
        body: bytes,
        status: int = 200,
        *,
        times: int = 1,
        action: Callable[[], object] = lambda: None,
    ) -> Fault:
        """Run `action` and answer with this, whatever it is: an incomplete object, the login page of a network."""
        return self._order("answer", method, route, times, body=body, status=status, action=action)

    def drip(self, method: str, route: str, *, times: int = 1) -> Fault:
        """Answer one byte at a time: every single step is in time, and the whole takes hours."""
        return self._order("drip", method, route, times)

    def lose_response(self, method: str, route: str, *, times: int = 1) -> Fault:
        """Do what is asked, then cut the connection instead of answering."""
        return self._order("lose", method, route, times)

    def cut_upload(self, *, times: int = 1) -> Fault:
        """Cut the connection when half of an object has arrived; nothing is stored."""
        return self._order("cut", "PUT", "^/lfs/", times)

    def swallow_upload(self, *, times: int = 1, lie: bool = False) -> Fault:
        """Acknowledge an object and throw it away; with `lie`, say at its verification that it is there."""
        return self._order("swallow-lie" if lie else "swallow", "PUT", "^/lfs/", times)

    def damage_upload(self, *, times: int = 1) -> Fault:
        """Acknowledge an object and store it with one byte changed."""
        return self._order("damage", "PUT", "^/lfs/", times)

    def damage_download(self, route: str = "/resolve/", *, times: int = 1) -> Fault:
        """Send a file with one byte changed."""
        return self._order("damage", "GET", route, times)

    def delay(self, method: str, route: str, seconds: float, *, times: int = 1, reply_only: bool = False) -> Fault:
        """Wait before doing what is asked; with `reply_only`, do it at once and wait before the reply."""
        return self._order("delay-reply" if reply_only else "delay", method, route, times, seconds=seconds)

    def meanwhile(self, method: str, route: str, action: Callable[[], object], *, times: int = 1) -> Fault:
        """Run `action` when the request has arrived but before it is carried out,
        as if somebody else did it meanwhile."""
        return self._order("meanwhile", method, route, times, action=action)

    def strike(self, method: str, path: str) -> Fault | None:
        with self.lock:
            for fault in self.faults:
                if fault.left > 0 and fault.method == method and fault.route.search(path):
                    fault.left -= 1
                    fault.hits += 1
                    return fault
        return None

    def writes(self) -> list[Request]:
        """The logged requests that can change what the Hub holds."""
        return [request for request in self.requests if request.changes]

    # --------------------------------------------------- what tests do directly

    def repo(self, repo_id: str) -> Repo:
        """A dataset repository as the Hub holds it."""
        return self.store.repo(repo_id)

    def commit(self, repo_id: str, files: Mapping[str, bytes | None], title: str = "Another commit") -> str:
        """Commit small files to main as somebody else (None deletes one); returns the id of the commit."""
        with self.lock:
            repo = self.repo(repo_id)
            tree = dict(repo.at("main").tree)
            for path, body in files.items():
                if body is None:
                    del tree[path]
                else:
                    tree[path] = self.store.blob(body)
            return self.store.commit(repo, "main", tree, title, "", "somebody").id

    def lose_object(self, repo_id: str, path: str) -> None:
        """Lose the bytes of a large file that main names; its pointer stays."""
        with self.lock:
            repo = self.repo(repo_id)
            digest = repo.at("main").tree[path].sha256
            assert digest is not None, f"{path} is not a large file"
            repo.large.discard(digest)
            self.store.objects.drop(f"large/{digest}")


class Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hangs up is part of the test; the log records it."""


def request_body(handler: BaseHTTPRequestHandler) -> bytes:
    """The body of a request, chunked or not."""
    if "chunked" not in handler.headers.get("Transfer-Encoding", "").lower():
        return handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
    body = b""
    while size := int(handler.rfile.readline().split(b";")[0], 16):
        body += handler.rfile.read(size)
        handler.rfile.readline()
    handler.rfile.readline()
    return body


class Handler(BaseHTTPRequestHandler):
    loopback: LoopbackHub
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def _serve(self) -> None:
        hub = self.loopback
        path = self.path.partition("?")[0]
        fault = hub.strike(self.command, path)
        kind = "" if fault is None else fault.kind
        reply: Reply | None = None
        if kind == "cut":
            self.rfile.read(int(self.headers.get("Content-Length") or 0) // 2)
        else:
            body = request_body(self)
            if fault is not None and kind == "delay":
                hub.closing.wait(fault.seconds)
            if fault is not None and kind in ("meanwhile", "answer"):
                fault.action()
            if fault is not None and kind == "answer":
                reply = Reply(fault.body, fault.status, {"Content-Type": "application/json"})
            elif kind != "refuse":
                headers = {name.lower(): value for name, value in self.headers.items()}
                with hub.lock:
                    reply = hub.routes.answer(self.command, self.path, headers, body, kind)
            if fault is not None and kind in ("refuse", "refuse-done"):
                reply = as_json({"error": "The loopback Hub was told to refuse"}, fault.status, fault.headers)
            if fault is not None and kind == "delay-reply":
                hub.closing.wait(fault.seconds)
        cut = reply is None or kind == "lose"
        route, _ = find_route(self.command, path)
        changes = route is not None and route.changes
        status = 0 if cut or reply is None else reply.status
        hub.requests.append(Request(self.command, self.path, status, changes, kind))
        if cut or reply is None:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
        else:
            self._send(reply, drip=kind == "drip")

    def _send(self, reply: Reply, *, drip: bool) -> None:
        self.send_response(reply.status)
        for name, value in {"Content-Length": str(len(reply.body)), **reply.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            for part in (reply.body[i : i + 1] for i in range(len(reply.body))) if drip else [reply.body]:
                self.wfile.write(part)
                if drip and self.loopback.closing.wait(0.3):
                    break

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = _serve  # noqa: N815 (names that http.server looks for)

    def log_message(self, *_: object) -> None:
        """Quiet: `LoopbackHub.requests` is the log."""
