"""The tables of a study.

Times are seconds since 1970. What people write, and the replies to them, are encrypted with a key of their own
(`keys`) in the columns named `sealed`; nothing else of theirs is text.
"""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Float, ForeignKey, Index, Integer, LargeBinary, MetaData, String, Table, Text

tables = MetaData()

facts = Table(  # about the study as a whole: its digest, its source, its format, the server's last heartbeat
    "facts",
    tables,
    Column("name", String(40), primary_key=True),
    Column("value", Text, nullable=False),
)
items = Table(
    "items",
    tables,
    Column("id", String(200), primary_key=True),
    Column("task", String(20), primary_key=True),
    Column("number", Integer, nullable=False),
    Column("group", String(200), nullable=False),
    Column("payload", Text, nullable=False),  # JSON that a page may show
    Column("key", Text, nullable=False),  # JSON for the sheet
    Column("picture", LargeBinary),
)
people = Table(
    "people",
    tables,
    Column("id", String(20), primary_key=True),  # P001, a pseudonym
    Column("number", Integer, nullable=False, unique=True),
    Column("stage", String(20), nullable=False),  # `flow.STAGES`
    Column("invited", Float, nullable=False),
    Column("began", Float),
    Column("ended", Float),
    Column("factor", Float, nullable=False, default=1.0),  # of the time limit, granted by a coordinator
    Column("consent", String(64)),  # SHA-256 of the text agreed to
    Column("tries", Integer, nullable=False, default=0),  # at the comprehension questions
    Column("paste", Integer, nullable=False, default=0),  # pastes that the page refused
    Column("sealed", LargeBinary),  # JSON: survey, practice
)
identity = Table(  # who people are outside the study; nowhere else
    "identity",
    tables,
    Column("person", ForeignKey("people.id"), primary_key=True),
    Column("sealed", LargeBinary, nullable=False),  # JSON: Prolific's ids; empty once the person was erased
    Column("known", String(64), unique=True),  # keyed digest of the outside id, to find a person again
)
links = Table(
    "links",
    tables,
    Column("digest", String(64), primary_key=True),  # of the token; the token is stored nowhere
    Column("person", String(20)),  # None: a coordinator's
    Column("made", Float, nullable=False),
    Column("expires", Float, nullable=False),
    Column("used", Float),
)
sessions = Table(
    "sessions",
    tables,
    Column("digest", String(64), primary_key=True),
    Column("person", String(20)),  # None: a coordinator's
    Column("csrf", String(64), nullable=False),
    Column("made", Float, nullable=False),
    Column("seen", Float, nullable=False),
    Column("expires", Float, nullable=False),
)
slots = Table(  # an item given to a person
    "slots",
    tables,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("person", ForeignKey("people.id"), nullable=False),
    Column("item", String(200), nullable=False),
    Column("task", String(20), nullable=False),
    Column("group", String(200), nullable=False),
    Column("position", Integer, nullable=False),  # from 0, for this person
    Column("repeat", Boolean, nullable=False, default=False),
    Column("step", String(20), nullable=False),  # `flow.Step`: chart, talk, findings, work, after, done, lost
    Column("given", Float, nullable=False),
    Column("ended", Float),
    Column("why", String(20)),  # for an encounter: time, clinician, addressed; for a lost one: lease, interrupted, …
    # The clock of a talk: seconds used before `since`; it runs if `since` is a time, until `stood` (`clock`).
    Column("used", Float, nullable=False, default=0.0),
    Column("since", Float),
    Column("stood", Float),
    Column("allowed", Float, nullable=False, default=0.0),  # seconds that the person has in all
    Column("turns", Integer, nullable=False, default=0),
    Column("busy", Float),  # a worker prepares the reply until then
    Column("failing", Float),  # models have failed since then
    Column("failures", Integer, nullable=False, default=0),
    Column("leaks", Integer, nullable=False, default=0),
    Column("replies", Text),  # JSON: the patient's replies by how they came about (`replaced`)
    Column("sealed", LargeBinary),  # JSON: the answer, or findings
    Column("after", LargeBinary),  # JSON, sealed: the short survey
    Column("episode", LargeBinary),  # JSON, sealed: what was played
    Index("slots_by_person", "person", "position"),
    Index("slots_by_item", "task", "item"),
)
messages = Table(
    "messages",
    tables,
    Column("slot", ForeignKey("slots.id"), primary_key=True),
    Column("number", Integer, primary_key=True),  # from 1, both sides counted
    Column("client", String(64), nullable=False),  # id of a person's message: made by the page, so that none is doubled
    Column("who", String(10), nullable=False),  # clinician, patient
    Column("at", Float, nullable=False),
    Column("used", Float, nullable=False),  # seconds on the clock
    Column("sealed", LargeBinary, nullable=False),
    Index("messages_once", "slot", "client", unique=True),
)
drafts = Table(
    "drafts",
    tables,
    Column("slot", ForeignKey("slots.id"), primary_key=True),
    Column("at", Float, nullable=False),
    Column("sealed", LargeBinary, nullable=False),
)
answers = Table(  # of models, each paid for once
    "answers",
    tables,
    Column("digest", String(80), primary_key=True),  # of the request, as in `loaders.models.answers`
    Column("slot", Integer, nullable=False),
    Column("role", String(20), nullable=False),
    Column("model", Text, nullable=False),
    Column("at", Float, nullable=False),
    Column("seconds", Float, nullable=False),
    Column("input_tokens", Integer, nullable=False),
    Column("output_tokens", Integer, nullable=False),
    Column("estimated", Boolean, nullable=False),  # whether these two were, since the provider did not count them
    Column("sealed", LargeBinary, nullable=False),
    Index("answers_by_slot", "slot"),
)
requests = Table(  # to models, recorded before they are sent
    "requests",
    tables,
    Column("digest", String(80), primary_key=True),  # the same as that of the answer
    Column("slot", Integer, nullable=False),
    Column("role", String(20), nullable=False),
    Column("at", Float, nullable=False),
    Column("name", String(32)),  # sent with it, while it is in flight
    Column("again", Integer, nullable=False, default=0),  # times that it was sent again, since its answer never arrived
)
journal = Table(
    "journal",
    tables,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("at", Float, nullable=False),
    Column("what", String(40), nullable=False),
    Column("person", String(20)),
    Column("slot", Integer),
    Column("detail", Text, nullable=False),  # JSON without content: counts, codes, digests of sealed bytes
    Column("previous", String(64), nullable=False),
    Column("digest", String(64), nullable=False),
)
