"""How the loopback Hub answers: every route that `huggingface_hub` 2 and `datasets` 5 call, without Xet.

Each handler takes a `Call` and returns a `Reply`, or raises `RefusalError` for what the real Hub refuses.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import parse_qs, quote, unquote, urlsplit

from scripts.loopback_hub.store import Entry, RefusalError, Repo, Store, Tree, folders, git_id

# What the real Hub stores as large objects by suffix; anything above the size (in bytes) goes there too.
LARGE_SUFFIXES = (".parquet", ".arrow", ".png", ".jpg", ".jpeg", ".zip", ".gz", ".bin", ".safetensors", ".npy")
LARGE_SIZE = 10 * 1024 * 1024
ATTRIBUTES = "".join(f"*{suffix} filter=lfs diff=lfs merge=lfs -text\n" for suffix in LARGE_SUFFIXES).encode()

# Token -> account and its rights. The stranger is known to the Hub but may do nothing here.
ACCOUNTS = {
    "hf_loopback_write": ("tester", "write"),
    "hf_loopback_read": ("tester", "read"),
    "hf_loopback_stranger": ("stranger", "none"),
}


class Reply(NamedTuple):
    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = {}


class Call(NamedTuple):
    """A request to a route: path parts, query, headers (names in lower case), body."""

    method: str
    parts: Sequence[str]
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body or b"{}")


def as_json(value: object, status: int = 200, headers: Mapping[str, str] = {}) -> Reply:
    return Reply(json.dumps(value).encode(), status, {"Content-Type": "application/json", **headers})


def _file_row(tree: Tree, path: str) -> dict[str, Any]:
    entry = tree.get(path)
    if entry is None:
        return {"type": "directory", "path": path, "oid": git_id("tree", path.encode()), "size": 0}
    row = {"type": "file", "path": path, "oid": entry.blob, "size": entry.size}
    return row | ({"lfs": entry.lfs} if entry.lfs else {})


class Routes:
    """The handlers, over one store. `page_size` applies to lists of files and commits."""

    page_size = 1000

    def __init__(self, store: Store, url: str) -> None:
        self.store = store
        self.url = url

    def account(self, headers: Mapping[str, str]) -> tuple[str, str] | None:
        scheme, _, token = headers.get("authorization", "").partition(" ")
        if scheme != "Bearer":
            return None
        if token not in ACCOUNTS:
            raise RefusalError(401, "Invalid credentials in Authorization header")
        return ACCOUNTS[token]

    def open(self, call: Call, *, write: bool = False, files: bool = False) -> Repo:
        """The repository that a call is about, if its sender may read (or write, or download from) it."""
        account = self.account(call.headers)
        rights = "" if account is None else account[1]
        repo = self.store.repos.get(f"{call.parts[0]}/{call.parts[1]}")
        if repo is None or (repo.private and rights not in ("read", "write")):
            raise RefusalError(404 if account else 401, "Repository not found", "RepoNotFound")
        if write and rights != "write":
            raise RefusalError(
                403 if account else 401, "You don't have the required permissions to perform this action"
            )
        if files and repo.gated and rights not in ("read", "write"):
            raise RefusalError(403 if account else 401, f"Access to dataset {repo.id} is restricted", "GatedRepo")
        return repo

    # ------------------------------------------------- routes: account and repository

    def whoami(self, call: Call) -> Reply:
        account = self.account(call.headers)
        if account is None:
            raise RefusalError(401, "Invalid username or password.")
        name, role = account
        token = {"displayName": "loopback", "role": role if role in ("read", "write") else "read"}
        auth = {"type": "access_token", "accessToken": token}
        return as_json({"type": "user", "name": name, "fullname": name, "orgs": [], "auth": auth})

    def create_repo(self, call: Call) -> Reply:
        account = self.account(call.headers)
        if account is None or account[1] != "write":
            raise RefusalError(403 if account else 401, "You don't have the rights to create a repository here")
        asked = call.json()
        kind = asked.get("type") or "model"
        repo_id = f"{asked.get('organization') or account[0]}/{asked['name']}"
        key = f"{kind}s/{repo_id}"
        address = f"{self.url}/{'' if kind == 'model' else kind + 's/'}{repo_id}"
        if key in self.store.repos:
            return as_json({"error": f"You already created this {kind} repo", "url": address}, 409)
        private = bool(asked.get("private")) or asked.get("visibility") == "private"
        repo = self.store.repos[key] = Repo(kind, repo_id, private)
        self.store.commit(
            repo, "main", {".gitattributes": self.store.blob(ATTRIBUTES)}, "initial commit", "", account[0]
        )
        return as_json({"url": address, "name": repo_id, "id": repo_id})

    def settings(self, call: Call) -> Reply:
        repo = self.open(call, write=True)
        asked = call.json()
        repo.gated = asked.get("gated", repo.gated)
        if "visibility" in asked or "private" in asked:
            repo.private = asked.get("visibility") == "private" or bool(asked.get("private"))
        return as_json({"private": repo.private, "gated": repo.gated})

    def info(self, call: Call) -> Reply:
        repo = self.open(call)
        commit = repo.at(call.parts[2] if len(call.parts) > 2 else "main")
        siblings = [{"rfilename": path} for path in sorted(commit.tree)]
        facts = {"id": repo.id, "sha": commit.id, "lastModified": commit.date, "siblings": siblings}
        return as_json(facts | {"private": repo.private, "gated": repo.gated})

    # ----------------------------------------------------- routes: refs and history

    def refs(self, call: Call) -> Reply:
        repo = self.open(call)

        def rows(refs: Mapping[str, str], prefix: str) -> list[dict[str, str]]:
            return [
                {"name": name, "ref": f"{prefix}/{name}", "targetCommit": oid} for name, oid in sorted(refs.items())
            ]

        branches, tags = rows(repo.branches, "refs/heads"), rows(repo.tags, "refs/tags")
        return as_json({"branches": branches, "converts": [], "tags": tags, "pullRequests": []})

    def create_tag(self, call: Call) -> Reply:
        repo = self.open(call, write=True)
        name = call.json()["tag"]
        if name in repo.tags:
            raise RefusalError(409, f"Tag reference exists already: refs/tags/{name}")
        repo.tags[name] = repo.at(call.parts[2]).id
        return as_json({})

    def commits(self, call: Call) -> Reply:
        repo = self.open(call)
        rows = [
            {"id": c.id, "title": c.title, "message": c.message, "authors": [{"user": c.author}], "date": c.date}
            for c in repo.history(repo.at(call.parts[2]))
        ]
        return self._page(call, f"/api/{call.parts[0]}/{repo.id}/commits/{quote(call.parts[2], safe='')}", rows)

    def _page(self, call: Call, path: str, rows: list[dict[str, Any]]) -> Reply:
        start = int(call.query.get("cursor", 0))
        end = start + self.page_size
        headers = {}
        if end < len(rows):
            query = "".join(f"{key}={quote(value)}&" for key, value in call.query.items() if key != "cursor")
            headers["Link"] = f'<{self.url}{path}?{query}cursor={end}>; rel="next"'
        return as_json(rows[start:end], headers=headers)

    # --------------------------------------------------------------- routes: files

    def tree(self, call: Call) -> Reply:
        repo = self.open(call)
        commit = repo.at(call.parts[2])
        top = call.parts[3].strip("/") if len(call.parts) > 3 else ""
        known = folders(commit.tree)
        if top not in known:
            raise RefusalError(404, f"{top} does not exist on {call.parts[2]}", "EntryNotFound")
        recursive = call.query.get("recursive", "").lower() in ("1", "true")
        prefix = top + "/" if top else ""
        names = sorted(name for name in [*commit.tree, *known] if name.startswith(prefix) and name != top)
        if not recursive:
            names = [name for name in names if "/" not in name[len(prefix) :]]
        rows = [_file_row(commit.tree, name) for name in names]
        path = f"/api/{call.parts[0]}/{repo.id}/tree/{quote(call.parts[2], safe='')}"
        return self._page(call, path + (f"/{quote(top)}" if top else ""), rows)

    def paths_info(self, call: Call) -> Reply:
        repo = self.open(call)
        commit = repo.at(call.parts[2])
        paths = parse_qs(call.body.decode()).get("paths", [])
        known = {*commit.tree, *folders(commit.tree)} - {""}
        return as_json([_file_row(commit.tree, path) for path in paths if path in known])

    def resolve(self, call: Call) -> Reply:
        repo = self.open(call, files=True)
        commit = repo.at(call.parts[2])
        path = call.parts[3]
        entry = commit.tree.get(path)
        if entry is None:
            raise RefusalError(404, f"{path} does not exist on {call.parts[2]}", "EntryNotFound")
        headers = {"X-Repo-Commit": commit.id, "ETag": f'"{entry.sha256 or entry.blob}"', "Accept-Ranges": "bytes"}
        headers["Content-Type"] = "application/octet-stream"
        if entry.sha256:
            headers |= {"X-Linked-Size": str(entry.size), "X-Linked-Etag": f'"{entry.sha256}"'}
        if call.method == "HEAD":  # answered from the pointer, as the real Hub does
            return Reply(b"", 200, headers | {"Content-Length": str(entry.size)})
        body = self.store.large(repo, entry.sha256) if entry.sha256 else self.store.objects.get(f"git/{entry.blob}")
        if body is None:
            raise RefusalError(404, "The specified key does not exist.")
        span = re.fullmatch(r"bytes=(\d+)-(\d*)", call.headers.get("range", ""))
        if span is None:
            return Reply(body, 200, headers)
        first, last = int(span[1]), min(int(span[2] or len(body)), len(body) - 1)
        headers["Content-Range"] = f"bytes {first}-{last}/{len(body)}"
        return Reply(body[first : last + 1], 206, headers)

    # ------------------------------------------------------------- routes: commits

    def validate_yaml(self, call: Call) -> Reply:
        return as_json({"errors": [], "warnings": []})

    def preupload(self, call: Call) -> Reply:
        repo = self.open(call, write=True)
        tree = repo.at(call.parts[2]).tree
        asked = call.json()
        if len(asked["files"]) > 256:
            raise RefusalError(413, "too many files: at most 256 a request")
        rows = []
        for file in asked["files"]:
            large = file["path"].endswith(LARGE_SUFFIXES) or file["size"] > LARGE_SIZE
            known = tree.get(file["path"])
            oid = None if known is None else known.sha256 or known.blob
            row = {"path": file["path"], "uploadMode": "lfs" if large else "regular", "shouldIgnore": False}
            rows.append(row | {"oid": oid} if oid else row)
        return as_json({"files": rows})

    def make_commit(self, call: Call) -> Reply:
        repo = self.open(call, write=True)
        branch = call.parts[2]
        rows = [json.loads(line) for line in call.body.splitlines()]
        header = rows[0]["value"]
        parent = header.get("parentCommit")
        if parent and not repo.branches[branch].startswith(parent):
            raise RefusalError(412, "A commit has happened since. Please refresh and try again.")
        tree = dict(repo.at(branch).tree)
        for row in rows[1:]:
            self._apply(repo, tree, row["key"], row["value"])
        account = self.account(call.headers)
        assert account is not None  # open(write=True) has checked that
        commit = self.store.commit(repo, branch, tree, header["summary"], header.get("description", ""), account[0])
        address = f"{self.url}/{'' if repo.kind == 'model' else repo.kind + 's/'}{repo.id}/commit/{commit.id}"
        return as_json({"success": True, "commitOid": commit.id, "commitUrl": address, "hookOutput": ""})

    def _apply(self, repo: Repo, tree: Tree, key: str, value: dict[str, Any]) -> None:
        path = value["path"]
        if key == "file":
            body = value["content"].encode()
            tree[path] = self.store.blob(base64.b64decode(body) if value.get("encoding") == "base64" else body)
        elif key == "lfsFile":
            body = self.store.large(repo, value["oid"])
            if body is None:
                raise RefusalError(400, f"LFS pointer of {path} points to an object that was not uploaded here")
            size = value.get("size", len(body))
            pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{value['oid']}\nsize {size}\n".encode()
            tree[path] = Entry(self.store.blob(pointer).blob, size, value["oid"], len(pointer))
        elif key == "deletedFile":
            if tree.pop(path, None) is None:
                raise RefusalError(404, f"A file with this name doesn't exist: {path}", "EntryNotFound")
        else:
            raise RefusalError(400, f"Unknown operation: {key}")

    # ------------------------------------------------------- routes: large objects

    def large_batch(self, call: Call) -> Reply:
        repo = self.open(call, write=True)
        asked = call.json()
        rows: list[dict[str, Any]] = []
        for wanted in asked["objects"]:
            row = {"oid": wanted["oid"], "size": wanted["size"]}
            if wanted["oid"] not in repo.large:
                place = f"{self.url}/lfs/{call.parts[0]}/{repo.id}/{wanted['oid']}"
                upload = {"href": f"{place}?size={wanted['size']}", "header": {}}
                row["actions"] = {"upload": upload, "verify": {"href": f"{place}/verify", "header": {}}}
            rows.append(row)
        return as_json({"transfer": "basic", "objects": rows})

    def put_large(self, call: Call) -> Reply:
        return self.store_large(self.store.repos[f"{call.parts[0]}/{call.parts[1]}"], call.parts[2], call.body)

    def store_large(self, repo: Repo, oid: str, body: bytes) -> Reply:
        if hashlib.sha256(body).hexdigest() != oid:
            raise RefusalError(400, "The bytes received do not have the digest that was announced")
        self.store.objects[f"large/{oid}"] = body
        repo.large.add(oid)
        return Reply(b"", 200, {"ETag": f'"{oid}"'})

    def verify_large(self, call: Call) -> Reply:
        repo = self.store.repos[f"{call.parts[0]}/{call.parts[1]}"]
        body = self.store.large(repo, call.parts[2])
        if body is None or len(body) != call.json()["size"]:
            raise RefusalError(404, "Object does not exist on the server")
        return as_json({})

    def answer(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> Reply:
        address = urlsplit(target)
        query = {key: values[-1] for key, values in parse_qs(address.query, keep_blank_values=True).items()}
        handler, parts = find_route(method, address.path)
        if not handler:
            return as_json({"error": f"Sorry, the loopback Hub has no {method} {address.path}"}, 404)
        call = Call(method, parts, query, headers, body)
        try:
            reply: Reply = getattr(self, handler)(call)
            return reply
        except RefusalError as refusal:
            explained = {"X-Error-Message": refusal.message} | ({"X-Error-Code": refusal.code} if refusal.code else {})
            return as_json({"error": refusal.message}, refusal.status, explained)
        except Exception as error:  # the client would see no more than a connection that was cut
            return as_json({"error": f"{type(error).__name__}: {error}"}, 500)


_API, _PART = r"/api/(datasets|models|spaces)/([^/]+/[^/]+)", "([^/]+)"
_LARGE = r"/lfs/(datasets|models|spaces)/([^/]+/[^/]+)/([0-9a-f]{64})"
_FILES = r"/(?:(datasets|spaces)/)?([^/]+/[^/]+)"
ROUTES = [
    (method, re.compile(pattern), handler)
    for method, pattern, handler in (
        ("GET", "/api/whoami-v2", "whoami"),
        ("POST", "/api/repos/create", "create_repo"),
        ("POST", "/api/validate-yaml", "validate_yaml"),
        ("PUT", f"{_API}/settings", "settings"),
        ("GET", _API, "info"),
        ("GET", f"{_API}/revision/{_PART}", "info"),
        ("GET", f"{_API}/refs", "refs"),
        ("GET", f"{_API}/commits/{_PART}", "commits"),
        ("GET", f"{_API}/tree/{_PART}", "tree"),
        ("GET", f"{_API}/tree/{_PART}/(.+)", "tree"),
        ("POST", f"{_API}/paths-info/{_PART}", "paths_info"),
        ("POST", f"{_API}/tag/{_PART}", "create_tag"),
        ("POST", f"{_API}/preupload/{_PART}", "preupload"),
        ("POST", f"{_API}/commit/{_PART}", "make_commit"),
        ("GET", f"{_FILES}/resolve/{_PART}/(.+)", "resolve"),
        ("HEAD", f"{_FILES}/resolve/{_PART}/(.+)", "resolve"),
        ("POST", rf"{_FILES}\.git/info/lfs/objects/batch", "large_batch"),
        ("PUT", _LARGE, "put_large"),
        ("POST", f"{_LARGE}/verify", "verify_large"),
    )
]


def find_route(method: str, path: str) -> tuple[str, list[str]]:
    """The name of a request's handler, "" if there is none, and the unquoted parts of its path."""
    for known, pattern, handler in ROUTES:
        found = pattern.fullmatch(path) if known == method else None
        if found:
            return handler, [unquote(part) if part else "models" for part in found.groups()]
    return "", []
