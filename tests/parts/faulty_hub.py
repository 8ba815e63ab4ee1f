"""The loopback Hub with faults, scheduled in advance, each for the next `times` requests of a method and a route.

    hub.refuse("POST", "/commit/", 429, retry_after=7)      hub.lose_response("POST", "/commit/")
    hub.meanwhile("POST", "/commit/", lambda: hub.commit("org/name", {"notes.txt": b"hello"}))

`hub.requests` is the access log.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from scripts.loopback_hub.hub import Handler, LoopbackHub
from scripts.loopback_hub.routes import Call, Reply, Routes, as_json, find_route
from scripts.loopback_hub.store import Repo

# The routes that can change what the Hub holds.
CHANGES = frozenset(
    """
    create_repo settings create_tag make_commit put_large put_part complete_large
    """.split()
)


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


class FaultyHandler(Handler):
    dripping = False

    def respond(self) -> None:
        hub: FaultyHub = self.owner
        path = self.path.partition("?")[0]
        fault = hub.strike(self.command, path)
        kind = "" if fault is None else fault.kind
        reply: Reply | None = None
        if kind == "cut":
            self.rfile.read(int(self.headers.get("Content-Length") or 0) // 2)
        else:
            body = self.request_body()
            if fault is not None and kind == "delay":
                hub.stopping.wait(fault.seconds)
            if fault is not None and kind in ("meanwhile", "answer"):
                fault.action()
            if fault is not None and kind == "answer":
                reply = Reply(fault.body, fault.status, {"Content-Type": "application/json"})
            elif kind != "refuse":
                with hub.lock:
                    hub.routes.fault = kind
                    reply = self.answer(body)
            if fault is not None and kind in ("refuse", "refuse-done"):
                reply = as_json({"error": "The loopback Hub was told to refuse"}, fault.status, fault.headers)
            if fault is not None and kind == "delay-reply":
                hub.stopping.wait(fault.seconds)
        cut = reply is None or kind == "lose"
        changes = find_route(self.command, path)[0] in CHANGES
        status = 0 if cut or reply is None else reply.status
        hub.requests.append(Request(self.command, self.path, status, changes, kind))
        if cut or reply is None:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
        else:
            self.dripping = kind == "drip"
            self.reply(reply)

    def send_body(self, body: bytes) -> None:
        for part in (body[i : i + 1] for i in range(len(body))) if self.dripping else [body]:
            self.wfile.write(part)
            if self.dripping and self.owner.stopping.wait(0.3):
                break


class FaultyRoutes(Routes):
    """The handlers, with what a fault does to an object; `fault` is the kind of the one that strikes this request."""

    fault = ""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.pretended: set[tuple[str, str]] = set()  # uploads that a fault acknowledged and threw away

    def resolve(self, call: Call) -> Reply:
        reply = super().resolve(call)
        return reply._replace(body=damaged(reply.body)) if self.fault == "damage" else reply

    def store_large(self, repo: Repo, oid: str, body: bytes) -> Reply:
        if self.fault.startswith("swallow"):
            if self.fault == "swallow-lie":
                self.pretended.add((repo.id, oid))
            return Reply()
        reply = super().store_large(repo, oid, body)
        if self.fault == "damage":
            self.store.objects[f"large/{oid}"] = damaged(body)
        return reply

    def verify_large(self, call: Call) -> Reply:
        pretended = (call.parts[1], call.parts[2]) in self.pretended
        return as_json({}) if pretended else super().verify_large(call)


def damaged(body: bytes) -> bytes:
    """The same bytes with the middle one changed."""
    middle = len(body) // 2
    return body[:middle] + bytes([body[middle] ^ 0xFF]) + body[middle + 1 :]


class FaultyHub(LoopbackHub):
    """A loopback Hub with faults, a log, and two more accounts.

    `page_size` applies to lists of files and commits. `url` is its public address, possibly behind a proxy.
    """

    read_token = "hf_loopback_read"
    stranger_token = "hf_loopback_stranger"  # an account with no rights here
    handler = FaultyHandler
    answering = FaultyRoutes
    routes: FaultyRoutes

    def __init__(self, *, page_size: int = 1000, url: str = "") -> None:
        super().__init__()
        self.requests: list[Request] = []
        self.faults: list[Fault] = []
        self.url = self.routes.url = url or self.url
        self.routes.page_size = page_size

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
