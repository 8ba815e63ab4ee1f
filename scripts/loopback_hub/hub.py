"""The loopback Hub as a server, and the variables with which a process talks to it."""

from __future__ import annotations

from pathlib import Path

from scripts.loopback_hub import server
from scripts.loopback_hub.routes import Reply, Routes
from scripts.loopback_hub.server import Loopback
from scripts.loopback_hub.store import Store


class Handler(server.Handler):
    def respond(self) -> None:
        """Read a request and answer it."""
        self.reply(self.answer(self.request_body()))

    def answer(self, body: bytes) -> Reply:
        """What the Hub says to the request with this body."""
        headers = {name.lower(): value for name, value in self.headers.items()}
        with self.owner.lock:
            said: Reply = self.owner.routes.answer(self.command, self.path, headers, body)
        return said

    def reply(self, reply: Reply) -> None:
        self.send(reply.status, reply.body, reply.headers)

    def _serve(self) -> None:
        self.respond()

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = _serve  # noqa: N815 (names that http.server looks for)


class LoopbackHub(Loopback):
    """The Hub: its `url`, a `token` that may write, and its `store`."""

    token = "hf_loopback_write"
    handler: type[Handler] = Handler
    answering: type[Routes] = Routes

    def __init__(self) -> None:
        super().__init__(self.handler)
        self.store = Store()
        self.url = "http://{}:{}".format(*self.address)
        self.routes = self.answering(self.store, self.url)

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
