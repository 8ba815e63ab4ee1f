"""The benchmark of scale: its server keeps all that is asked of it in flight, and its client asks as it is told."""

from __future__ import annotations

import asyncio

from scripts.bench.scale_server import plain, serving


def test_the_plain_client_keeps_as_many_in_flight_as_asked() -> None:
    async def asked() -> tuple[float, int, int, float]:
        async with serving(0.05) as server:
            rate = await plain(server.port, requests=60, concurrency=20)
            told = rate, server.requests, server.most, server.rate
            server.forget()
            assert server.requests == 0
            return told

    rate, requests, most, served = asyncio.run(asked())
    assert requests == 60 and 10 < most <= 20
    assert 0 < rate <= 20 / 0.05 and served > 0
