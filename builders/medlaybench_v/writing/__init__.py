"""The rule writer: lay captions without a model.

`draft` replaces and explains, sentence by sentence. What it may replace is a `Match` of a `surface` form. What a form
means in its context is decided by `senses`, `topics`, `narrowing`, `company`, `neighbours`, `attachment` and
`shared_names`, each with its table; `mentions`, `glosses` and `bare` choose between a lay phrase and an explanation.
`views` describes what a picture shows; `sentences`, `articles` and `grammar` repair the assembled text; `footnotes`
resolves the key.
"""
