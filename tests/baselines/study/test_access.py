"""Who gets in, and who does not."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from baselines.study import access
from baselines.study.design import Limits, Prolific
from loaders.errors import InputError
from tests.parts.study_talks import ORIGIN, Clock, Visitor, links, talking, visiting


def test_a_link_works_once_by_its_button_alone(tmp_path: Path) -> None:
    clock = Clock()
    site = talking(tmp_path, clock=clock)
    with visiting(site) as client:
        token, late = links(site, 2)
        for _ in range(3):  # programs that open links
            assert client.get(f"/i/{token}").status_code == 200
        answer = client.post(f"/i/{token}", follow_redirects=False)
        cookie = answer.headers["set-cookie"]
        assert cookie.startswith("__Host-bedside=")
        for word in ("HttpOnly", "Secure", "Path=/", "SameSite=lax"):
            assert word in cookie
        assert "Domain" not in cookie and token not in answer.text
        client.cookies.clear()
        assert client.post(f"/i/{token}").status_code == client.get(f"/i/{token}").status_code == 404
        assert client.post(f"/c/{late}").status_code == 404  # a person's link is no coordinator's
        clock.now += access.LINK_LASTS + 1
        assert client.get(f"/i/{late}").status_code == 404


def test_what_others_send_is_refused(tmp_path: Path) -> None:
    site = talking(tmp_path)
    with visiting(site) as client:
        one, other = (Visitor(client, token) for token in links(site, 2))
        assert one.do("consent", form=other.form("consent"), answer="agree").status_code == 403  # another's form
        one.look()
        form = one.form("consent")
        for headers in (
            {"origin": "https://evil.example"},
            {"origin": "null"},
            {"origin": "null", "sec-fetch-site": "cross-site"},
        ):
            answer = client.post("/do/consent", data={**form, "answer": "agree"}, headers=headers)
            assert answer.status_code == 403, headers
        same = {"origin": "null", "sec-fetch-site": "same-origin"}  # what a page without a referrer sends
        assert client.post("/do/consent", data={**form, "answer": "agree"}, headers=same).status_code == 200
        assert client.post("/do/consent", content=b"x" * 300_000).status_code == 413
        assert client.post("/do/consent", json={"answer": "agree"}).status_code == 415
        assert client.get("/coordinator").status_code == 403
        client.cookies.clear()
        for where in ("/", "/status", "/picture", "/coordinator", "/consent.pdf"):
            assert client.get(where).status_code == 403


def test_every_response_has_the_headers(tmp_path: Path) -> None:
    site = talking(tmp_path)
    with visiting(site) as client:
        for where in ("/", "/nothing", "/study.css", "/i/wrong", "/do/consent"):
            headers = client.get(where).headers
            assert headers["content-security-policy"].startswith("default-src 'none'; script-src 'self'")
            assert headers["cache-control"] == ("no-cache" if where == "/study.css" else "no-store, no-transform")
            assert client.head(where).headers == headers
            assert headers["referrer-policy"] == "no-referrer"
        for fixed in ("/study.css", "/study.js"):  # kept by the browser, sent once
            first = client.get(fixed)
            again = client.get(fixed, headers={"if-none-match": first.headers["etag"]})
            assert (again.status_code, again.content) == (304, b"") and again.headers["etag"] == first.headers["etag"]
            assert client.get(fixed, headers={"if-none-match": '"older"'}).content == first.content


def test_too_much_is_too_much(tmp_path: Path) -> None:
    site = talking(tmp_path, clock=Clock(), limits=Limits(requests_a_minute=5, tries_a_link=3))
    with visiting(site) as client:
        assert [client.get(f"/i/{at}").status_code for at in range(5)] == [404, 404, 404, 429, 429]
        person = Visitor(client, links(site)[0])
        assert [person.look().status_code for _ in range(6)][-2:] == [429, 429]


def test_a_limit_forgets_and_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    limit = access.Limit(2, 60)
    assert [limit.allows("a", 0.0) for _ in range(3)] == [True, True, False]
    assert limit.allows("b", 0.0) and limit.allows("a", 31.0)
    monkeypatch.setattr(access, "_MOST_KEPT", 10)
    for number in range(100):
        limit.allows(str(number), 0.0)
    assert len(limit._left) == 10


def test_a_coordinator_sees_nobodys_words_and_grants_time(tmp_path: Path) -> None:
    site = talking(tmp_path)
    with visiting(site) as client:
        person = Visitor(client, links(site)[0])
        person.enter()
        with site.store.writing() as connection:
            login = access.make_link(connection, None, site.clock())
        client.cookies.clear()
        page = client.post(f"/c/{login}").text
        assert "P001" in page and "chart of" in page
        form = {"csrf": page.split('name="csrf" value="')[1].split('"')[0], "person": "P001"}
        assert "P001 has 1.5 times the time" in client.post("/coordinator/grant", data={**form, "factor": "1.5"}).text
        assert "expected one of 1, 1.5 and 2" in client.post("/coordinator/grant", data={**form, "factor": "9"}).text
        assert "/i/" in client.post("/coordinator/link", data=form).text
        assert client.get("/").url.path == "/coordinator" and client.get("/status").status_code == 403  # is no person


def test_a_university_of_one_address_is_let_in_from_prolific(tmp_path: Path) -> None:
    site = talking(tmp_path, prolific=Prolific("s" * 24, "DONE", "OUT", "LATE", "LEFT"), limits=Limits(tries_a_link=3))

    def arrives(client: TestClient, number: int, study: str = "s" * 24) -> int:
        ids = {"PROLIFIC_PID": f"{number:024}", "STUDY_ID": study, "SESSION_ID": "b" * 24}
        client.cookies.clear()
        return client.post("/prolific", params=ids).status_code

    with visiting(site) as client:
        assert [arrives(client, number, "another") for number in range(4)] == [404, 404, 404, 429]
        assert {arrives(client, number) for number in range(10)} == {200}


def test_where_only_this_machine_listens() -> None:
    assert [access.is_private(host) for host in ("127.0.0.1", "::1", "localhost")] == [True] * 3
    assert [access.is_private(host) for host in ("0.0.0.0", "::", "10.0.0.1", "example.org")] == [False] * 4


def test_an_address_is_compared_as_a_browser_writes_it() -> None:
    """With capitals, the usual port or an umlaut, every form was refused: it came from another origin."""
    for told in (ORIGIN, f"{ORIGIN}/", "https://Study.Test:443"):
        assert access.origin_of(told) == ORIGIN
    assert access.origin_of("https://bücher.example") == "https://xn--bcher-kva.example"
    for told in ("https://", "study.test", f"{ORIGIN}/study", f"{ORIGIN}?x=1", "https://a:b@study.test"):
        with pytest.raises(InputError, match="without a path"):
            access.origin_of(told)
