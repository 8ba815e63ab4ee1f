"""The headers of every response of a study: nothing of other sites, nothing in other sites, nothing kept."""

from __future__ import annotations

import logging

from fastapi.responses import HTMLResponse
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from baselines.study import views
from baselines.study.store import kind_of

_log = logging.getLogger(__name__)

HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store, no-transform",  # some proxies write scripts of their own into pages
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), browsing-topics=()",
    "x-robots-tag": "noindex, nofollow",
}
SECURE = {"strict-transport-security": "max-age=31536000"}


class Headers:
    """Sets the headers of every response, including errors of the server, and hides an error's details."""

    def __init__(self, app: ASGIApp, more: dict[str, str]) -> None:
        self._app, self._headers = app, {**HEADERS, **more}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if scope["method"] == "HEAD":  # of whoever looks whether a link works; the server sends no body
            scope = {**scope, "method": "GET"}
        begun = False

        async def sending(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun, own = True, MutableHeaders(scope=message)
                for name, value in self._headers.items():
                    own.setdefault(name, value)
            await send(message)

        try:
            await self._app(scope, receive, sending)
        except Exception as error:
            _log.error("a page could not be made: %s", kind_of(error))
            if not begun:
                text = "Something went wrong. What you sent last may not be stored: please go back, and send it again."
                page = HTMLResponse(views.notice_page("An error", text), status_code=500)
                await page(scope, receive, sending)
