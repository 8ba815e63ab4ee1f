"""What a caption states: one module per kind of fact, each parsing a `Reading` into values that can be compared.

`scan` finds the spans that a draft must not touch. `quantities`, `polarity`, `certainty`, `order`, `comparison`,
`sides`, `imaging`, `markers` and `inventions` parse the meaning and compare it (for quantities, `amounts` compares,
with `ranges`). `senses` knows the words for body parts and findings in both registers, `binding` decides what a value
is said of; the words are in tables (`wordings`).
"""

from builders.medlaybench_v.facts.scan import Fact, Reading, Word, read

__all__ = ["Fact", "Reading", "Word", "read"]
