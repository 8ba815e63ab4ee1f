"""The rule writer: lay captions without a model.

`draft` finds what to replace or explain, `substitution` writes it, as `pieces`. What may be replaced is a `Match` of a
`surface` form. What a form means in its context is decided by `senses`, `topics`, `narrowing`, `company`, `neighbours`,
`attachment` and `shared_names`, each with its table; `mentions`, `glosses` and `bare` choose between a lay phrase and
an explanation.
`views` describes what a picture shows; `grammar` repairs the assembled text, `sentences` makes its fragments sentences
(`showing`, `findings`, `verbs`, `capitals`), `articles` adds what captions leave out (`counted`); `footnotes` resolves
the key.
"""
