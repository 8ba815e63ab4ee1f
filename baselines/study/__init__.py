"""People work on the same cases as models, under the same rules: `bedside study`.

design      study.yaml as typed data             schedule    who gets which case next
store       the tables of a study                journal     what happened, chained, without content
keys        texts, encrypted per person          access      links, sessions, roles, limits
seat        a person as a player of a game       server      the pages, in their order
tasks/      what people do, one module a task    export      the files that baselines read
"""

from loaders.errors import MissingExtra

MissingExtra.check("study", purpose="a study with people")  # here once: whatever is imported of it needs the extra
