"""Downloads from a server that misbehaves: each failure has its reason, none stops the rest, none is fetched twice."""

from __future__ import annotations

import hashlib
import json
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest

from builders.threemdbench import public_address
from builders.threemdbench.download import Downloads, Fetched, Wanted
from builders.threemdbench.public_address import is_public
from builders.threemdbench.request import Limits
from loaders.errors import InputError
from tests.parts.photo_server import (
    Behaviour,
    PhotoServer,
    bombs,
    cuts,
    cuts_unseen,
    drips,
    drips_head,
    floods,
    garbles,
    hangs,
    picture,
    redirects,
    resets,
    sends,
    wanders,
)
from tests.parts.proxy import Proxy

PHOTO = picture()
MD5 = hashlib.md5(PHOTO).hexdigest()
FAST = Limits(pause=0.0, tries=2, max_bytes=100_000, allow_loopback=True, give_up_after=99)
IMPATIENT = replace(FAST, timeout=0.8, deadline=1.2)  # with servers that never answer: others may take their time


class Clock:
    """Notes how long somebody wanted to wait, and does not."""

    def __init__(self) -> None:
        self.waits: list[float] = []

    def __call__(self, seconds: float) -> None:
        self.waits.append(seconds)


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture
def server() -> Iterator[PhotoServer]:
    with PhotoServer({}) as running:
        yield running


def fetch(folder: Path, *wanted: Wanted, limits: Limits = FAST, clock: Clock | None = None) -> list[Fetched]:
    times = SimpleNamespace(monotonic=time.monotonic, sleep=clock or Clock())
    with patch("builders.threemdbench.download.time", times):
        outcomes = Downloads(folder, limits).fetch(wanted)
    return [outcomes[one.url] for one in wanted]


def test_a_photo_is_fetched_once_and_kept(tmp_path: Path, server: PhotoServer) -> None:
    server.pages["/a.jpg"] = sends(PHOTO)
    wanted = Wanted(server.url("/a.jpg"), MD5)
    for _ in range(3):
        assert fetch(tmp_path, wanted) == [Fetched(hashlib.sha256(PHOTO).hexdigest())]
    assert server.asked["/a.jpg"] == 1
    assert Downloads(tmp_path).path(wanted.url).read_bytes() == PHOTO
    assert all(agent.startswith("bedside/") for agent in server.agents)


def test_a_server_that_wants_to_know_who_asks_is_told(
    tmp_path: Path, server: PhotoServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As Wikimedia does. What it refused before is asked for once more. The advice is for who builds: a release states
    the outcome."""
    server.pages["/a.jpg"] = [sends(b"", status=403), sends(PHOTO)]
    wanted = Wanted(server.url("/a.jpg"))
    for _ in "ab":
        downloads = Downloads(tmp_path, FAST)
        assert downloads.fetch([wanted]) == {wanted.url: Fetched("", "HTTP 403")}
        assert downloads.unnamed == 1
    assert server.asked["/a.jpg"] == 1
    monkeypatch.setenv("BEDSIDE_CONTACT", "  ada@example.org\r\nCookie: é")
    assert fetch(tmp_path, wanted)[0].sha256 == hashlib.sha256(PHOTO).hexdigest()
    assert any(agent.endswith(" (builds a research corpus; ada@example.org Cookie:)") for agent in server.agents)


def test_a_kept_file_that_was_damaged_is_fetched_again(tmp_path: Path, server: PhotoServer) -> None:
    server.pages["/a.jpg"] = sends(PHOTO)
    wanted = Wanted(server.url("/a.jpg"))
    fetch(tmp_path, wanted)
    Downloads(tmp_path).path(wanted.url).write_bytes(PHOTO[:100])
    assert fetch(tmp_path, wanted)[0].sha256 == hashlib.sha256(PHOTO).hexdigest()
    assert server.asked["/a.jpg"] == 2
    assert Downloads(tmp_path).path(wanted.url).read_bytes() == PHOTO


@pytest.mark.parametrize(
    ("page", "reason", "final", "asked"),
    [
        (sends(b"", status=404), "HTTP 404", True, 1),
        (sends(b"", status=410), "HTTP 410", True, 1),
        (sends(b"", status=403), "HTTP 403", True, 1),
        (sends(b"", status=500), "HTTP 500", False, 2),
        (sends(b"", status=503, Retry_After="7"), "HTTP 503", False, 2),
        (sends(b"", status=522), "HTTP 522", False, 2),  # of the proxy before it, which did not reach it
        (sends(b"<!DOCTYPE html><p>Gone", kind="text/html"), "not an image", True, 1),
        (sends(b"\r\n  <html><p>Gone", kind="image/jpeg"), "not an image", True, 1),
        (sends(b'{"error": 1}', kind="application/json"), "not an image", True, 1),
        (sends(b""), "empty answer", True, 1),
        (sends(b"\xff" * 100_001), "too large", True, 1),
        (floods, "too large", True, 1),
        (sends(picture(2)), "another file than the source's digest says", True, 1),
        (hangs, "no answer", False, 2),
        (drips, "no answer", False, 2),
        (drips_head, "no answer", False, 2),
        (bombs, "compressed answer", False, 2),
        (cuts, "broken answer", False, 2),
        (cuts_unseen, "broken answer", False, 2),
        (resets, "cannot be reached", False, 2),
        (garbles, "broken answer", False, 2),
        (redirects("/a.jpg"), "too many redirects", True, 6),
        (redirects("file:///etc/passwd"), "no web address", True, 1),
        (redirects("http://169.254.169.254/latest/meta-data"), "address is not public", True, 1),
        (redirects("http://10.0.0.1/a.jpg"), "address is not public", True, 1),
        (redirects("http://[::ffff:192.168.0.1]/a.jpg"), "address is not public", True, 1),
        (redirects("http://0.0.0.0/a.jpg"), "address is not public", True, 1),
        (redirects("//u:p@127.0.0.1/a.jpg"), "no web address", True, 1),
    ],
    ids=lambda value: None if callable(value) else str(value),
)
def test_every_failure_has_its_reason(
    tmp_path: Path, server: PhotoServer, page: object, reason: str, final: bool, asked: int
) -> None:
    server.pages["/a.jpg"] = page  # type: ignore[assignment]
    limits = IMPATIENT if reason == "no answer" else FAST
    (found,) = fetch(tmp_path, Wanted(server.url("/a.jpg"), MD5), limits=limits)
    assert (found.reason, found.final, found.sha256) == (reason, final, "")
    assert server.asked["/a.jpg"] == asked
    assert not Downloads(tmp_path).path(server.url("/a.jpg")).exists()


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("", "no web address"),
        ("a.jpg", "no web address"),
        ("ftp://example.org/a.jpg", "no web address"),
        ("http://", "no web address"),
        ("http://[::1/a.jpg", "no web address"),
        ("http://example.org:99999/a.jpg", "no web address"),
        ("http://user:secret@example.org/a.jpg", "no web address"),
        ("http://127.0.0.1:9/a.jpg", "cannot be reached"),
        ("http://no-such-host.invalid/a.jpg", "cannot be reached"),
    ],
)
def test_addresses_that_lead_nowhere(tmp_path: Path, url: str, reason: str) -> None:
    (found,) = fetch(tmp_path, Wanted(url))
    assert found.reason == reason
    assert "secret" not in found.detail


def test_the_loopback_is_refused_unless_a_test_asks_for_it(tmp_path: Path, server: PhotoServer) -> None:
    server.pages["/a.jpg"] = sends(PHOTO)
    wanted = [Wanted(server.url("/a.jpg")), Wanted(server.url("/a.jpg").replace("127.0.0.1", "localhost"))]
    found = fetch(tmp_path, *wanted, limits=replace(FAST, allow_loopback=False))
    assert [one.reason for one in found] == ["address is not public"] * 2
    assert not server.asked


@pytest.mark.parametrize(
    "spelling", ["127.1", "0x7f000001", "2130706433", "017700000001", "[::ffff:7f00:1]", "127.0.0.1."]
)
def test_the_loopback_is_refused_however_it_is_spelled(tmp_path: Path, server: PhotoServer, spelling: str) -> None:
    url = server.url("/a.jpg").replace("127.0.0.1", spelling)
    (outcome,) = fetch(tmp_path, Wanted(url), limits=replace(FAST, allow_loopback=False))
    assert outcome.reason == "address is not public"
    assert not server.asked


def test_a_name_that_is_answered_twice_leads_nowhere_else(
    tmp_path: Path, server: PhotoServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DNS rebinding: the check sees one address and the connection would be made to another."""
    server.pages["/a.jpg"] = sends(PHOTO)
    answers = [["127.0.0.1"], ["127.0.0.1"], ["10.0.0.1"], ["127.0.0.1", "169.254.169.254"]]
    asked: list[str] = []

    def resolve(host: str, port: int, *_: object, **__: object) -> list[tuple[int, int, int, str, tuple[str, int]]]:
        if host[0].isdigit():  # what the connection itself asks for: an address already
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (host, port))]
        asked.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in answers.pop(0)]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    port = server.address[1]
    # robots.txt and the photo: one resolution and one check for each connection.
    (first,) = fetch(tmp_path, Wanted(f"http://rebinds.example:{port}/a.jpg"))
    assert (first.reason, asked) == ("", ["rebinds.example"] * 2)
    for number in (1, 2):
        (later,) = fetch(tmp_path, Wanted(f"http://rebinds.example:{port}/{number}.jpg"))
        assert later.reason == "address is not public"
    assert (server.robots, server.asked) == (1, {"/a.jpg": 1})


# --- Behind a proxy ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("login", ["", "ann:s%20cr%C3%A9t"])
def test_photos_come_through_the_proxy_of_the_environment(
    tmp_path: Path, server: PhotoServer, monkeypatch: pytest.MonkeyPatch, login: str
) -> None:
    server.pages |= {"/a.jpg": redirects("http://other.example/b.jpg"), "/b.jpg": sends(PHOTO)}
    with Proxy({"photos.example": server.address, "other.example": server.address}, login=login) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        (outcome,) = fetch(tmp_path, Wanted("http://photos.example/a.jpg"), limits=replace(FAST, allow_loopback=False))
        assert outcome.sha256 == hashlib.sha256(PHOTO).hexdigest()
        hosts = ("photos", "photos", "other", "other")
        paths = ("robots.txt", "a.jpg", "robots.txt", "b.jpg")
        assert proxy.asked == [f"GET http://{h}.example/{p}" for h, p in zip(hosts, paths, strict=True)]


def test_https_goes_through_a_tunnel_and_is_checked_at_its_end(
    tmp_path: Path, server: PhotoServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.pages["/a.jpg"] = sends(PHOTO)
    pem = tmp_path / "photos.pem"
    made = "openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=photos.example".split()
    made += ["-addext", "subjectAltName=DNS:photos.example", "-keyout", str(pem), "-out", f"{pem}.crt"]
    subprocess.run(made, check=True, capture_output=True)
    server.secure(Path(f"{pem}.crt"), pem)
    with Proxy({"photos.example": server.address, "others.example": server.address}) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", proxy.url)
        monkeypatch.setenv("SSL_CERT_FILE", f"{pem}.crt")
        wanted = [Wanted("https://photos.example/a.jpg"), Wanted("https://others.example/a.jpg")]
        found = fetch(tmp_path, *wanted, limits=replace(FAST, tries=1))
        assert [outcome.reason for outcome in found] == ["", "cannot be reached"]
        assert "certificate" in found[1].detail
        assert set(proxy.asked) == {"CONNECT photos.example:443", "CONNECT others.example:443"}


@pytest.mark.parametrize(
    "url",
    [
        "http://10.0.0.1/a.jpg",
        "http://169.254.169.254/latest/meta-data",
        "http://0xa000001/a.jpg",
        "http://[64:ff9b::a00:1]/a.jpg",
        "http://127.0.0.1:9/a.jpg",
        "http://localhost:9/a.jpg",
    ],
)
def test_no_proxy_is_asked_for_a_private_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    with Proxy({}) as proxy, PhotoServer({"/a.jpg": redirects(url)}) as photos:
        proxy.names = {"photos.example": photos.address}
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        limits = replace(FAST, allow_loopback=False)
        found = fetch(tmp_path, Wanted(url), Wanted("http://photos.example/a.jpg"), limits=limits)
        assert [outcome.reason for outcome in found] == ["address is not public"] * 2
        assert all("photos.example" in line for line in proxy.asked)


@pytest.mark.parametrize(
    ("url", "options", "reason", "detail"),
    [
        ("http://photos.example/a.jpg", {"login": "ann:secret"}, "the proxy refuses it", "407"),
        ("https://photos.example/a.jpg", {"login": "ann:secret"}, "the proxy refuses it", "407"),
        ("http://photos.example/a.jpg", {"status": 403}, "the proxy refuses it", "403"),
        ("https://photos.example/a.jpg", {"status": 403}, "the proxy refuses it", "403"),
        ("http://photos.example/a.jpg", {}, "robots.txt cannot be read", ""),
    ],
)
def test_what_a_proxy_refuses_is_asked_for_again_by_the_next_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str, options: dict[str, Any], reason: str, detail: str
) -> None:
    with Proxy({}, **options) as proxy:
        monkeypatch.setenv("ALL_PROXY", proxy.url.replace("ann:secret", "eve:guess"))
        (outcome,) = fetch(tmp_path, Wanted(url))
    assert (outcome.reason, outcome.final) == (reason, False)
    assert detail in outcome.detail


def test_no_proxy_names_hosts_that_are_asked_directly(
    tmp_path: Path, server: PhotoServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_PROXY", ".example")
    with Proxy({}) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        (outcome,) = fetch(tmp_path, Wanted("http://no-such-host.example/a.jpg"))
        assert (outcome.reason, proxy.asked) == ("cannot be reached", [])


@pytest.mark.parametrize(
    "named", ["socks5://127.0.0.1:1", "http://", "http://ann:hunter2@:x", "http://[::1", "ftp://a"]
)
def test_a_proxy_that_cannot_be_used_is_one_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str) -> None:
    monkeypatch.setenv("HTTP_PROXY", named)
    with pytest.raises(InputError, match="HTTP_PROXY") as error:
        fetch(tmp_path, Wanted("http://photos.example/a.jpg"))
    assert "hunter2" not in str(error.value)


def test_redirects_are_followed_to_a_photo(tmp_path: Path, server: PhotoServer) -> None:
    server.pages["/old.jpg"] = redirects("new/b%20c.jpg", 301)
    server.pages["/new/b%20c.jpg"] = redirects(server.url("/ö.jpg"), 308)
    server.pages["/%C3%B6.jpg"] = redirects("/é.jpg".encode().decode("latin-1"))  # in UTF-8, as most servers send it
    server.pages["/%C3%A9.jpg"] = sends(PHOTO, kind="")
    assert fetch(tmp_path, Wanted(server.url("/old.jpg")))[0].sha256 == hashlib.sha256(PHOTO).hexdigest()


@pytest.mark.parametrize("kind", ["text/plain", "application/force-download", "text/html; charset=utf-8"])
def test_a_photo_is_one_whatever_the_server_calls_it(tmp_path: Path, server: PhotoServer, kind: str) -> None:
    server.pages["/a.jfif"] = sends(PHOTO, kind=kind)
    assert fetch(tmp_path, Wanted(server.url("/a.jfif")))[0].sha256 == hashlib.sha256(PHOTO).hexdigest()


def test_what_may_pass_is_tried_again_and_waited_for(tmp_path: Path, server: PhotoServer) -> None:
    server.pages["/a.jpg"] = [sends(b"", status=429, Retry_After="5"), sends(PHOTO)]
    clock = Clock()
    assert fetch(tmp_path, Wanted(server.url("/a.jpg")), clock=clock)[0].sha256
    assert 5.0 in clock.waits


def test_a_server_that_asks_for_an_hour_is_left_to_the_next_build(tmp_path: Path, server: PhotoServer) -> None:
    server.pages["/a.jpg"] = [sends(b"", status=429, Retry_After="3600"), sends(PHOTO)]
    wanted = Wanted(server.url("/a.jpg"))
    clock = Clock()
    assert fetch(tmp_path, wanted, clock=clock)[0].reason == "HTTP 429"
    assert clock.waits == []
    assert fetch(tmp_path, wanted)[0].sha256


def test_the_next_build_asks_again_only_for_what_may_have_come_back(tmp_path: Path, server: PhotoServer) -> None:
    server.pages["/gone.jpg"] = sends(b"", status=404)
    server.pages["/busy.jpg"] = [sends(b"", status=500), sends(b"", status=500), sends(PHOTO)]
    wanted = [Wanted(server.url("/gone.jpg")), Wanted(server.url("/busy.jpg"))]
    assert [one.reason for one in fetch(tmp_path, *wanted)] == ["HTTP 404", "HTTP 500"]
    assert [one.reason for one in fetch(tmp_path, *wanted)] == ["HTTP 404", ""]
    assert server.asked == {"/gone.jpg": 1, "/busy.jpg": 3}


@pytest.mark.parametrize(
    ("page", "reason"),
    [
        (resets, "cannot be reached"),
        (sends(b"", status=429, Retry_After="3600"), "HTTP 429"),  # each further photo would make it worse
        (sends(b"", status=503), "HTTP 503"),
    ],
)
def test_a_host_that_does_not_answer_is_left_alone(
    tmp_path: Path, server: PhotoServer, page: Behaviour, reason: str
) -> None:
    server.pages |= {f"/{n}.jpg": page for n in range(3)} | {f"/{n}.jpg": sends(PHOTO) for n in (3, 4)}
    limits = replace(FAST, tries=1, give_up_after=3)
    wanted = [Wanted(server.url(f"/{n}.jpg")) for n in range(5)]
    found = fetch(tmp_path, *wanted, limits=limits)
    assert [one.reason for one in found] == [reason] * 3 + ["host does not answer"] * 2
    assert not any(one.final for one in found)
    assert sum(server.asked.values()) == 3
    # Those that fail again do not stand before the others for ever.
    assert [one.reason for one in fetch(tmp_path, *wanted, limits=limits)] == [reason] * 3 + [""] * 2


def test_requests_to_a_host_are_kept_apart(tmp_path: Path, server: PhotoServer) -> None:
    server.pages |= {f"/{n}.jpg": sends(picture(n)) for n in range(3)}
    clock = Clock()
    limits = replace(FAST, pause=900.0)
    fetch(tmp_path, *(Wanted(server.url(f"/{n}.jpg")) for n in range(3)), limits=limits, clock=clock)
    # Three photos and, before them, robots.txt.
    assert len(clock.waits) == 3
    assert all(800.0 < wait <= 900.0 for wait in clock.waits)


def test_progress_counts_what_is_known_and_what_is_new(tmp_path: Path, server: PhotoServer) -> None:
    server.pages |= {"/a.jpg": sends(PHOTO), "/b.jpg": sends(picture(2))}
    fetch(tmp_path, Wanted(server.url("/a.jpg")))
    told: list[bool] = []
    both = [Wanted(server.url("/a.jpg")), Wanted(server.url("/b.jpg"))]
    Downloads(tmp_path, FAST).fetch(both, lambda: told.append(True))
    assert len(told) == 2


def test_outcomes_are_written_down_where_one_can_read_them(tmp_path: Path, server: PhotoServer) -> None:
    fetch(tmp_path, Wanted(server.url("/a.jpg"), MD5))
    (record,) = [json.loads(path.read_text()) for path in (tmp_path / "outcomes").glob("*/*")]
    assert record["url"] == server.url("/a.jpg")
    assert record["outcome"]["reason"] == "HTTP 404"


def test_a_record_cut_off_by_a_full_disk_counts_as_absent(tmp_path: Path, server: PhotoServer) -> None:
    server.pages["/a.jpg"] = [sends(b"", status=404), sends(PHOTO)]
    fetch(tmp_path, Wanted(server.url("/a.jpg")))
    (record,) = (tmp_path / "outcomes").glob("*/*")
    record.write_bytes(record.read_bytes()[:20])
    assert fetch(tmp_path, Wanted(server.url("/a.jpg")))[0].sha256


def test_redirects_that_lead_on_and_on_end(tmp_path: Path, server: PhotoServer) -> None:
    server.pages |= {"*": wanders, "/robots.txt": sends(b"", status=404)}
    (outcome,) = fetch(tmp_path, Wanted(server.url("/a.jpg")))
    assert (outcome.reason, sum(server.asked.values())) == ("too many redirects", 6)


PUBLIC = "8.8.8.8 192.31.196.1 2001:4860:4860::8888 ::ffff:8.8.8.8 64:ff9b::808:808"
NOT_PUBLIC = {
    "private": "10.0.0.1 172.16.0.1 192.168.0.1 fd00::1",
    "shared, link and site local": "100.64.0.1 169.254.169.254 fe80::1 fe80::1%2 fec0::1",
    "loopback and this host": "127.0.0.1 127.8.8.8 ::1 0.0.0.0 :: 0.8.8.8",
    "multicast": "224.0.0.1 239.255.255.255 ff02::1 ff0e::1",
    "reserved": "240.0.0.1 255.255.255.255 4000::1 e000::1 100::1 5f00::1",
    "documentation and benchmarks": "192.0.2.1 198.51.100.1 203.0.113.1 198.18.0.1 2001:db8::1 2001:2::1 3fff::1",
    "protocol assignments": "192.0.0.8 192.0.0.9 192.0.0.170 2001:20::1 192.88.99.1",
    "mapped": "::ffff:127.0.0.1 ::ffff:a00:1 ::ffff:224.0.0.1",
    "NAT64": "64:ff9b::a00:1 64:ff9b::7f00:1 64:ff9b:1::808:808 64:ff9b:0:1::808:808",
    "other embedded forms, even of public addresses": "::127.0.0.1 ::8.8.8.8 ::ffff:0:8.8.8.8 2002:808:808::1",
    "Teredo and ISATAP": "2001:0:808:808::1 2001:4860::5efe:808:808 2001:4860::200:5efe:7f00:1 fe80::5efe:808:808",
    "no address": "example.org 8.8.8 8.8.8.8/32 2001:4860:4860::8888%eth0 010.8.8.8",
}


@pytest.mark.parametrize("kind", NOT_PUBLIC)
def test_addresses_that_not_everyone_can_reach(kind: str) -> None:
    assert [address for address in NOT_PUBLIC[kind].split() if is_public(address)] == []


def test_public_addresses() -> None:
    assert all(map(is_public, PUBLIC.split()))


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13", "3.14"])
def test_the_table_is_the_same_under_every_python(version: str) -> None:
    """What `ipaddress` calls global changed with the version; the module needs the standard library only."""
    places = [shutil.which(f"python{version}"), *Path.home().glob(f".pyenv/versions/{version}.*/bin/python")]
    pythons = [str(place) for place in places if place and run_quietly([str(place), "-c", "import ipaddress"]) == ""]
    if not pythons:
        pytest.skip(f"no Python {version} on this machine")
    code = "import sys; from public_address import is_public; print(*[a for a in sys.argv[1:] if is_public(a)])"
    asked = [*PUBLIC.split(), *" ".join(NOT_PUBLIC.values()).split()]
    assert run_quietly([pythons[0], "-c", code, *asked], Path(public_address.__file__).parent).split() == PUBLIC.split()


def run_quietly(command: list[str], folder: Path | None = None) -> str | None:
    """What a command printed; None where it failed."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else None


def test_only_the_loopback_itself_is_let_in_for_tests() -> None:
    assert [is_public(a, allow_loopback=True) for a in ("127.0.0.9", "::1", "::ffff:127.0.0.1", "10.0.0.1")] == [
        True,
        True,
        False,
        False,
    ]


# --- robots.txt -------------------------------------------------------------------------------------------------------


def says(*lines: str) -> Behaviour:
    return sends("\n".join(lines).encode(), kind="text/plain")


def test_what_robots_txt_forbids_is_not_asked_for(tmp_path: Path, server: PhotoServer) -> None:
    server.pages |= {"/robots.txt": says("User-agent: *", "Disallow: /private/"), "/open/a.jpg": sends(PHOTO)}
    server.pages |= {f"/private/{n}.jpg": sends(PHOTO) for n in range(7)}
    clock = Clock()
    wanted = [Wanted(server.url(f"/private/{n}.jpg")) for n in range(7)] + [Wanted(server.url("/open/a.jpg"))]
    found = fetch(tmp_path, *wanted, clock=clock)
    # Refusals are answers: they are not taken for a host that is silent, and not tried again in this run.
    assert [one.reason for one in found] == ["robots.txt forbids it"] * 7 + [""]
    assert not any(one.final for one in found[:7])
    assert (server.robots, server.asked, clock.waits) == (1, {"/open/a.jpg": 1}, [])
    server.pages["/robots.txt"] = says("User-agent: *", "Disallow:")
    assert all(one.sha256 for one in fetch(tmp_path, *wanted))


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (("User-agent: bedside", "Disallow: /", "", "User-agent: *", "Disallow:"), "robots.txt forbids it"),
        (("User-agent: bedside", "Disallow:", "", "User-agent: *", "Disallow: /"), ""),
        (("User-agent: googlebot", "Disallow: /"), ""),
        (("User-agent: *", "Allow: /a.jpg", "Disallow: /"), ""),
        (("\ufeffUser-agent: *", "Disallow: /a"), "robots.txt forbids it"),
        (("<html><body>Not here</body></html>",), ""),
        (("User-agent: *", "Crawl-delay: 3600"), "robots.txt forbids it"),
    ],
)
def test_the_rules_for_us_count(tmp_path: Path, server: PhotoServer, lines: tuple[str, ...], reason: str) -> None:
    server.pages |= {"/robots.txt": says(*lines), "/a.jpg": sends(PHOTO)}
    assert fetch(tmp_path, Wanted(server.url("/a.jpg")))[0].reason == reason


@pytest.mark.parametrize(
    ("page", "reason"),
    [
        (sends(b"", status=404), ""),
        (sends(b"", status=403), ""),
        (sends(b"", status=500), "robots.txt cannot be read"),
        (sends(b"", status=429), "robots.txt cannot be read"),
        (redirects("/robots.txt"), ""),
        (redirects("/rules"), "robots.txt forbids it"),
        (redirects("http://10.0.0.1/robots.txt"), ""),
        (hangs, "no answer"),
        (resets, "cannot be reached"),
        (garbles, "broken answer"),
        (floods, ""),
    ],
)
def test_a_robots_txt_that_misbehaves(tmp_path: Path, server: PhotoServer, page: Behaviour, reason: str) -> None:
    server.pages |= {"/robots.txt": page, "/rules": says("User-agent: *", "Disallow: /"), "/a.jpg": sends(PHOTO)}
    limits = IMPATIENT if page is hangs else replace(FAST, max_bytes=10_000_000)
    (found,) = fetch(tmp_path, Wanted(server.url("/a.jpg")), limits=limits)
    assert found.reason == reason
    assert server.asked["/a.jpg"] == (not reason)
    # Nothing of this is for good: when robots.txt is back, so is the photo.
    server.pages["/robots.txt"] = sends(b"", status=404)
    assert fetch(tmp_path, Wanted(server.url("/a.jpg")))[0].sha256


def test_a_host_whose_robots_txt_fails_is_left_alone(tmp_path: Path, server: PhotoServer) -> None:
    server.pages["/robots.txt"] = sends(b"", status=503)
    limits = replace(FAST, tries=1, give_up_after=3)
    found = fetch(tmp_path, *(Wanted(server.url(f"/{n}.jpg")) for n in range(9)), limits=limits)
    assert {one.reason for one in found} == {"robots.txt cannot be read", "host does not answer"}
    assert (server.robots, server.asked) == (3, {})


def test_a_pause_that_a_host_asks_for_is_kept(tmp_path: Path, server: PhotoServer) -> None:
    server.pages |= {"/robots.txt": says("User-agent: *", "Crawl-delay: 30"), "/a.jpg": sends(PHOTO)}
    clock = Clock()
    assert fetch(tmp_path, Wanted(server.url("/a.jpg")), clock=clock)[0].sha256
    assert len(clock.waits) == 1 and 10.0 < clock.waits[0] <= 30.0


def test_a_redirect_to_a_host_that_forbids_it_ends_there(tmp_path: Path, server: PhotoServer) -> None:
    with PhotoServer({"/robots.txt": says("User-agent: *", "Disallow: /"), "/a.jpg": sends(PHOTO)}) as other:
        server.pages["/a.jpg"] = redirects(other.url("/a.jpg"))
        assert fetch(tmp_path, Wanted(server.url("/a.jpg")))[0].reason == "robots.txt forbids it"
        assert (other.robots, other.asked) == (1, {})
