"""The rule writer: lay captions without a model.

`draft` finds what to replace or explain, `substitution` writes it. What may be replaced is a `Match` of a form of
`surfaces`. What a form means in its context is decided by `senses`, `topics`, `narrowing`, `company`, `neighbours` and
`attachment`, each with its table; `mentions`, `glosses` and `bare` choose between a lay phrase and an explanation.
`views` describes what a picture shows; `grammar` repairs the assembled text, `sentences` makes its fragments sentences
(`showing`, `findings`, `verbs`, `capitals`), `articles` adds what captions leave out (`counted`); `footnotes` resolves
the key.
"""
