"""One run of `builders.publish.run`: plan, access, uploads, the commit, the read-back and the tag, in this order.

Each step asks the Hub what it holds before changing it, and every failure ends in one `HubError` that says what the
Hub holds then and how to continue.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from shlex import quote
from typing import NoReturn

from huggingface_hub import CommitOperationAdd, CommitOperationDelete, DatasetInfo
from huggingface_hub.errors import LocalTokenNotFoundError

from builders.publish.hub_state import LONGEST_WAIT, OF_THE_HUB, RETRIED_ATTEMPTS, HubFault, HubRepo, Refs, version_key
from builders.publish.local_release import LocalRelease
from builders.publish.plan import Plan, Published, Wishes, message
from builders.publish.watch import in_minutes
from loaders.errors import HubError, InputError
from loaders.hub import http_cause, is_temporary
from loaders.manifest import KEPT, NAME

NEXT = "Publish this release under the next version."
LOG_IN = "Log in with `hf auth login`, or set HF_TOKEN, with a token that may write to this repository."


@dataclass
class Publication:
    """One run of `publish`. It records what it has done so far, so that a failure can say where it stopped."""

    hub: HubRepo
    folder: Path
    tag: str
    wishes: Wishes
    release: LocalRelease = field(init=False)
    unnamed: LocalRelease = field(init=False)  # as it is on disk, and as earlier versions published it
    sent: list[str] = field(default_factory=list)  # Parquet files that the Hub has acknowledged in this run
    without_xet: bool = False  # the Hub, or the connection to it, turned out not to accept Xet uploads
    made: str = ""  # the commit that the Hub has acknowledged in this run

    def run(self) -> Published:
        """Publish, or with `dry_run` only report what publishing would do."""
        dry_run = self.wishes.get("dry_run", False)
        self.hub.watch.enter("reading the release")
        self.unnamed = LocalRelease.read(self.folder)
        kept = self.unnamed.manifest.settings.get(KEPT)
        if kept and not self.wishes.get("own", False):
            do = "Publish it with --own once everyone concerned agrees; --private --gated manual restricts access"
            raise InputError(self.folder, found=str(kept), expected="a release meant for others", do=do)
        self.release = self._dated(self.wishes.get("date", ""))
        try:
            if not dry_run:
                self._check_token()
            refs = self.hub.look()
            if refs is not None:
                self._check_repository(refs)
                if self.tag in refs.tags:
                    return self._already_published(refs, dry_run)
                self._check_newest(refs)
            plan = self._plan(refs)
            for line in plan.lines(self.release, self.hub.repo_id, self.tag, self.wishes):
                self.hub.watch.note(line)
            self._check_replaced(plan)
            if dry_run:
                return self._published(plan.head, plan)
            if refs is None:
                refs = self._create()
                self._check_repository(refs)
                self._check_newest(refs)  # others may have been as fast
                plan = replace(self._plan(refs), creates=True)
                self._check_replaced(plan)
            self._set_gate()
            commit = self.made = self._commit(plan) if plan.commits else plan.head
            self._read_back(commit)
            self._set_tag(commit)
            return self._published(commit, plan, uploaded=list(plan.upload))
        except HubFault as fault:
            self._stop_on(fault)

    def _dated(self, date: str) -> LocalRelease:
        """The release as it is published here under this tag, on that date if there is one."""
        address = f"{self.hub.api.endpoint}/datasets/{self.hub.repo_id}"
        return self.unnamed.named(self.folder, self.hub.repo_id, self.tag, address, date)

    def _check_token(self) -> None:
        """Before anything is sent: the token is valid and may write."""

        def send() -> tuple[object, object]:
            account = self.hub.api.whoami()
            return account.get("name"), ((account.get("auth") or {}).get("accessToken") or {}).get("role")

        try:
            name, role = self.hub.ask("checking the login", send)
        except HubFault as fault:
            if isinstance(fault.error, LocalTokenNotFoundError):
                found, expected = "no token; nothing was uploaded", "a login"
            elif fault.status == 401:
                found, expected = f"{fault}; nothing was uploaded", "a valid token"
            else:
                raise
            raise HubError(self._where, found=found, expected=expected, do=LOG_IN) from None
        if role == "read":
            found = f"the token of {name} is read-only; nothing was uploaded"
            raise HubError(self._where, found=found, expected="a token with write permission", do=LOG_IN)

    def _check_repository(self, refs: Refs) -> None:
        """Before any byte of data is sent: the repository is private if asked to be, and of this corpus."""
        if self.wishes.get("private") and not self._info().private:
            do = "Make it private in its settings on the Hub, or publish without --private."
            self._stop("the repository is public", expected="a private repository, as requested", do=do)
        if (other := self.hub.other_release(refs, self.release)) is not None:
            kind = " that are stand-ins" if self.release.manifest.stand_in is not None else ""
            expected = f"only releases of {self.release.manifest.corpus}{kind}"
            do = "Publish this release to its own repository; no option replaces the other release."
            self._stop(other, expected=expected, do=do)

    def _plan(self, refs: Refs | None) -> Plan:
        if refs is None:
            return Plan(True, "", tuple(sorted(self.release.files)), ())
        if not refs.head:
            self._stop("the repository has no branch main", do="Create it on the Hub, then run the same command again.")
        difference = self.hub.difference(refs.head, self.release)
        named = tuple(self.wishes.get("replace", ()))
        folders = tuple(name for name in named if name.endswith("/"))
        lost = [path for path in difference.changed if path in self.hub.files(refs.head)] + [*difference.extra]
        lost = [path for path in lost if path not in named and not path.startswith(folders)]
        unasked = self.hub.foreign(refs, self.release, lost)
        return Plan(False, refs.head, difference.changed, difference.extra, unasked)

    def _check_replaced(self, plan: Plan) -> None:
        """Before any byte of data is sent: nothing is deleted or overwritten that others put there, unless named."""
        if plan.unasked:
            named = " ".join(f"--replace {quote(path)}" for path in plan.unasked[:20])
            more = f" … and {len(plan.unasked) - 20} more" if len(plan.unasked) > 20 else ""
            self._stop(
                f"publishing would delete or overwrite {', '.join(plan.unasked[:5])}{' …' * (len(plan.unasked) > 5)}, "
                f"which no release of {self.release.manifest.corpus} put there",
                expected="each named with --replace",
                do=f"Check them, save what you need, and name what may be deleted: {named}{more}. Name a folder "
                "by its path and a slash.",
            )

    def _already_published(self, refs: Refs, dry_run: bool) -> Published:
        commit = refs.tags[self.tag]
        difference = self.hub.difference(commit, self.release)
        if difference and self.hub.difference(commit, self.unnamed) and not self._same_but_for_date(commit):
            found = f"the tag is already published with other content; different: {difference}"
            self._stop(found, expected="a new version, because a published tag never moves", do=NEXT)
        changed = not dry_run and self._set_gate()
        self.hub.watch.note(f"{self.tag} of {self.hub.repo_id} already holds this release: nothing to do")
        return self._published(commit, Plan(False, refs.head, (), ()), unchanged=not changed)

    def _same_but_for_date(self, commit: str) -> bool:
        """Whether a commit holds this release with a date that this run was not given; another date is refused."""
        stated, asked = self.hub.date(commit), self.wishes.get("date", "")
        if stated == asked or self.hub.difference(commit, self._dated(stated)):
            return False
        if asked:
            self.release = self._dated(stated)  # that is what main may hold
            on = f"on {stated}" if stated else "without a date"
            self._stop(
                f"this release is published under the tag {on}, and the date asked for is {asked}",
                expected="the date as it is, because a published tag never moves",
                do="Leave out --date: there is nothing to do. The next version may state its own.",
            )
        return True

    def _check_newest(self, refs: Refs) -> None:
        """main, which readers get if they name no version, never goes back, nor from one release to another of the same
        version, since only one gets its tag: a version must come after all others."""
        held = [(version, commit, "is published") for version, commit in refs.versions[:1]]
        held += [(*found, "is on main, and its tag is not set yet") for found in self.hub.underway(refs)]
        for version, commit, state in held:
            if version_key(version) > version_key(self.tag):
                why = f"main would go back to {self.tag}"
            elif version == self.tag and self._other(commit):
                why = f"commit {commit[:8]} is another release of it, which somebody may be publishing"
            else:
                continue
            self._stop(f"{version} {state}; {why}", expected=f"a version after {version}", do=NEXT)

    def _other(self, commit: str) -> bool:
        """Whether a commit holds another release than this one, whatever the date."""
        return NAME in self.hub.difference(commit, self._dated(self.hub.date(commit))).changed

    def _create(self) -> Refs:
        def send() -> Refs | None:
            self.hub.api.create_repo(
                self.hub.repo_id, repo_type="dataset", private=self.wishes.get("private") or None, exist_ok=True
            )
            return self.hub.glance()

        try:
            refs = self.hub.ask("creating the repository", send, landed=self.hub.look)
        except HubFault:  # the library stumbles over replies about a repository that somebody has just created
            refs = self.hub.look()
            if refs is None:
                raise
        if refs is None:
            self._stop("the Hub created the repository but does not show it", do="Run the same command again.")
        return refs

    def _set_gate(self) -> bool:
        """Before any byte of data is sent: readers must ask for access. Returns whether the setting had to change."""
        gate = self.wishes.get("gated")
        if gate is None or self._info().gated == gate:
            return False
        self.hub.ask(
            "setting the gate",
            lambda: self.hub.api.update_repo_settings(self.hub.repo_id, gated=gate, repo_type="dataset"),
        )
        return True

    def _info(self) -> DatasetInfo:
        return self.hub.ask("reading the settings", lambda: self.hub.api.dataset_info(self.hub.repo_id))

    def _upload(self, plan: Plan) -> list[CommitOperationAdd]:
        """Send the Parquet files one by one (the Hub skips what it holds already); small files travel in the commit."""
        shards = [path for path in plan.upload if path.endswith(".parquet")]
        self.sent.clear()
        additions = []
        for number, path in enumerate(shards, 1):
            additions.append(self._send(path))
            self.sent.append(path)
            self.hub.watch.note(f"uploaded {number}/{len(shards)}: {path}")
        for path in plan.upload:
            # one by one: for several, the library starts threads that would outlive the deadline
            if path not in shards:
                file = self.release.files[path]
                additions.append(CommitOperationAdd(path, file.source if file.content is None else file.content))
                self._preupload(additions[-1:], f"preparing {path}")
        return additions

    def _send(self, path: str) -> CommitOperationAdd:
        """Send one large file; without Xet where that fails, because the library never falls back by itself."""
        source = self.release.files[path].source
        if not self.without_xet:
            addition = CommitOperationAdd(path, source)
            try:
                self._preupload([addition], f"uploading {path}")
                return addition
            except HubFault as fault:
                by_xet = isinstance(fault.error, (RuntimeError, ConnectionError, TimeoutError))
                if not by_xet or http_cause(fault.error) is not None:  # already plain LFS
                    raise
                self.hub.watch.say(f"{fault}; uploading it without Xet")
                self.without_xet = True
        with source.open("rb") as file:  # an open file is sent by plain LFS
            addition = CommitOperationAdd(path, file)
            self._preupload([addition], f"uploading {path}")
        return addition

    def _preupload(self, additions: list[CommitOperationAdd], what: str) -> None:
        # A .gitignore on the Hub would make the library silently leave files out.
        self.hub.ask(
            what,
            lambda: self.hub.api.preupload_lfs_files(
                self.hub.repo_id, additions, repo_type="dataset", gitignore_content=""
            ),
            attempts=RETRIED_ATTEMPTS,
        )

    def _commit(self, plan: Plan, *, may_yield: bool = True, may_resend: bool = True) -> str:
        """Make the one commit on top of `plan.head`; returns the id of the commit that holds the release."""
        additions = self._upload(plan)
        deletions = [CommitOperationDelete(path, is_folder=False) for path in plan.delete]
        manifest = self.release.manifest

        def send() -> str:
            made = self.hub.api.create_commit(
                self.hub.repo_id,
                [*additions, *deletions],
                commit_message=message(self.tag),
                commit_description=f"{manifest.corpus}, content digest {manifest.content_digest}",
                repo_type="dataset",
                parent_commit=plan.head,
            )
            return str(made.oid)

        def landed() -> str | None:
            return self.hub.find(self.release, since=plan.head)

        try:
            return self.hub.ask("committing", send, landed=landed)
        except HubFault as fault:
            if fault.status in (409, 412):  # a commit in progress, or one that came first
                return landed() or self._give_way(plan, may_yield)
            if fault.status == 400 and "lfs pointer" in str(fault.error).lower():
                if may_resend:
                    self.hub.watch.say("the Hub lost an acknowledged upload; uploading again")
                    return self._commit(plan, may_yield=may_yield, may_resend=False)
                do = "Run the same command again later; it uploads only what the Hub does not have."
                self._stop("the Hub acknowledged an upload twice but does not have it", do=do)
            raise

    def _give_way(self, plan: Plan, may_yield: bool) -> str:
        """Somebody else's commit came between our look and our commit.

        Committing on top of it is safe only if it touched nothing but the Hub's own file: a file that it changed would
        be overwritten, and a file that it added would become part of the release, without anybody having seen it.
        """
        refs = self.hub.look()
        head = plan.head if refs is None else refs.head
        touched = self.hub.touched(plan.head, head)
        story = "the Hub reports a conflicting commit"
        if head != plan.head:
            story = f"someone else committed {head[:8]} to main meanwhile, changing {', '.join(sorted(touched)[:5])}"
        if may_yield and touched <= OF_THE_HUB:
            self.hub.watch.say(f"{story}; committing on top of it")
            return self._commit(replace(plan, head=head), may_yield=False)
        do = "Check that commit, then run the same command again: it starts from there and keeps others' files"
        do += " (if some are in the way, it names them and stops)."
        self._stop(story, expected=f"main still at {plan.head[:8]}", do=do)

    def _read_back(self, commit: str) -> None:
        if difference := self.hub.difference(commit, self.release):
            found = f"commit {commit[:8]} does not match the release when read back; different: {difference}"
            do = "Run the same command again: it commits what differs, and tags only what it has read back."
            self._stop(found, do=do)
        held = self.hub.files(commit)
        for path in sorted(path for path in self.release.files if held[path].lfs is not None):
            self.hub.watch.note(f"reading back {path}")
            self._read_bytes(commit, path)

    def _read_bytes(self, commit: str, path: str) -> None:
        if (damage := self.hub.damage(commit, path, self.release)) is None:
            return
        # The Hub accepts the file if it knows that it lacks it. A download damaged on the way, which HTTP does not
        # notice, succeeds the second time.
        self.hub.watch.say(f"{path} {damage}; uploading it again")
        self._send(path)
        if (damage := self.hub.damage(commit, path, self.release)) is not None:
            self._stop(
                f"{path} of commit {commit[:8]} {damage}",
                expected=f"SHA-256 {self.release.files[path].sha256[:12]}…",
                do="The copy on the Hub is lost or damaged, and the Hub takes no other while it lists this one: "
                "delete it (repository settings, list of large files), then run the same command again.",
            )

    def _set_tag(self, commit: str) -> None:
        def send() -> str:
            self.hub.api.create_tag(self.hub.repo_id, tag=self.tag, revision=commit, repo_type="dataset")
            return commit

        def landed() -> str | None:
            refs = self.hub.look()
            return None if refs is None else refs.tags.get(self.tag)

        try:
            self.hub.ask("tagging", send, landed=landed)
        except HubFault as fault:
            if fault.status != 409:  # 409: there is a tag of that name; the check below finds out whose
                raise
        refs = self.hub.look()
        target = None if refs is None else refs.tags.get(self.tag)
        if target != commit:
            found, do = "the tag names nothing", "Run the same command again."
            if target is not None:
                found, do = f"the tag names commit {target[:8]}", f"Someone else set this tag meanwhile. {NEXT}"
            self._stop(found, expected=f"commit {commit[:8]}, which holds the release", do=do)
        self.hub.watch.note(f"{self.tag} -> {commit[:8]}: {self._url}")
        if refs is not None and refs.head != commit:
            others = f"someone else committed {refs.head[:8]} to main meanwhile"
            self.hub.watch.say(f"{others}: only {self.tag} is this release")

    @property
    def _where(self) -> str:
        return f"{self.hub.repo_id}@{self.tag}"

    @property
    def _url(self) -> str:
        return f"{self.hub.api.endpoint}/datasets/{self.hub.repo_id}/tree/{self.tag}"

    def _published(
        self, commit: str, plan: Plan, *, uploaded: list[str] | None = None, unchanged: bool = False
    ) -> Published:
        return Published(self.hub.repo_id, self.tag, commit, self._url, uploaded or [], unchanged, plan)

    def _state(self) -> str:
        """What the Hub holds now, to end every failure message."""
        try:
            refs = self.hub.ask("looking at the Hub", self.hub.glance, attempts=1)
            if refs is None:
                return "the repository does not exist"
            holds = bool(refs.head) and not self.hub.difference(refs.head, self.release)
        except HubFault as fault:
            why = "it does not answer" if is_temporary(fault.error) else f"it does not say ({fault})"
            return f"unknown, because {why}; {self.done()}; {self.tag} was not confirmed"
        main = f"main is at {refs.head[:8]} ({'the files of this release' if holds else 'not this release'})"
        names = f"names {refs.tags[self.tag][:8]}" if self.tag in refs.tags else "is not set"
        return f"{main}; {self.tag} {names}; {self.done()}"

    def done(self) -> str:
        """What this run has changed on the Hub."""
        done = f"this run uploaded {len(self.sent)} Parquet files" if self.sent else "this run uploaded nothing"
        return done + (f" and made commit {self.made[:8]}" if self.made else "")

    def _stop(self, found: str, *, expected: str = "", do: str) -> NoReturn:
        raise HubError(self._where, found=found, expected=expected, do=f"On the Hub: {self._state()}. {do}")

    def _stop_on(self, fault: HubFault) -> NoReturn:
        """End with one error for a failure that could not be waited out."""
        do = "Run the same command again to resume."
        if fault.wait is not None and fault.wait > LONGEST_WAIT:
            do = f"The Hub asks to wait {fault.wait:.0f} s: then run the same command again."
        elif fault.status in (401, 403):
            do = LOG_IN
        elif "README.md" in str(fault.error):
            do = "Fix the card and build the release again."
        try:
            self._stop(str(fault), do=do)
        except HubError as stop:
            raise stop from fault.error

    def stop_late(self) -> NoReturn:
        """End when the deadline has passed: without a look at the Hub, which may be what took so long."""
        watch = self.hub.watch
        found = f"{watch.step} did not finish before the deadline of {in_minutes(watch.seconds)}"
        found += f"; the last problem was: {watch.trouble}" if watch.trouble else ""
        state = f"not checked for lack of time; {self.done()}; {self.tag} was not confirmed, and pending requests may"
        do = "Run the same command again to resume; --deadline MINUTES allows more time."
        raise HubError(self._where, found=found, do=f"On the Hub: {state} still take effect. {do}") from None
