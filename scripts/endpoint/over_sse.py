"""A product that streams its reply: `--doctor endpoint:over_sse.py`, with PRODUCT_URL set. Copy and change it.

It posts {"session": …, "message": …} and joins the "text" of each server-sent event, `data: {"text": "…"}`, up to
`data: [DONE]`. A stream that ends before is no reply.
"""

import asyncio
import json
import os
import urllib.request


async def reply(session: str, text: str) -> str:
    return await asyncio.to_thread(_post, {"session": session, "message": text})


def _post(content: dict[str, str]) -> str:
    headers = {"Content-Type": "application/json", "Accept": "text/event-stream"}
    if key := os.environ.get("PRODUCT_KEY"):
        headers["Authorization"] = f"Bearer {key}"
    request = urllib.request.Request(os.environ["PRODUCT_URL"], json.dumps(content).encode(), headers)
    said: list[str] = []
    with urllib.request.urlopen(request, timeout=120) as stream:
        for line in stream:
            event = line.decode().strip()
            if event == "data: [DONE]":
                return "".join(said)
            if event.startswith("data:"):
                said.append(json.loads(event.removeprefix("data:"))["text"])
    raise ConnectionError("the stream ended before [DONE]")
