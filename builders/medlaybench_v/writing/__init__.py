"""The rule writer: lay captions without a model.

`draft` replaces and explains, sentence by sentence. What it may replace is a `Match` of a `surface` form; what a form
means where it stands is said by `senses`, `topics`, `narrowing`, `company`, `neighbours`, `attachment` and
`shared_names`, each with its table; `mentions`, `glosses` and `bare` decide between a lay phrase and an explanation.
`views` tells what a picture shows; `sentences`, `articles` and `grammar` mend what was put together; `footnotes` keep
the key.
"""
