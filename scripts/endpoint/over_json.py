"""A product with a JSON API: `--doctor endpoint:over_json.py`, with PRODUCT_URL set. Copy and change it.

It posts {"session": …, "message": …} and reads {"reply": …}; PRODUCT_KEY, if set, is sent as a bearer token.
"""

import asyncio
import json
import os
import urllib.request


async def reply(session: str, text: str) -> str:
    return await asyncio.to_thread(_post, {"session": session, "message": text})


def _post(content: dict[str, str]) -> str:
    headers = {"Content-Type": "application/json"}
    if key := os.environ.get("PRODUCT_KEY"):
        headers["Authorization"] = f"Bearer {key}"
    request = urllib.request.Request(os.environ["PRODUCT_URL"], json.dumps(content).encode(), headers)
    with urllib.request.urlopen(request, timeout=120) as answer:
        said: str = json.load(answer)["reply"]  # not str(…): a reply of null is none, not the word None
    return said
