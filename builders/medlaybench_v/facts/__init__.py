"""What a caption states: one module a kind of fact, each parsing a `Reading` into values that can be compared.

`scan` finds the spans that a draft may not touch. `quantities`, `polarity`, `certainty`, `order`, `comparison`,
`sides`, `imaging`, `markers` and `inventions` read what is meant, and compare it; of quantities `amounts` does, with
`ranges`. `senses` knows the words for body parts and findings in both registers, `binding` tells what a value is said
of; the words stand in tables (`wordings`).
"""

from builders.medlaybench_v.facts.scan import Fact, Reading, Word, read

__all__ = ["Fact", "Reading", "Word", "read"]
