"""What a caption states: one module per kind of fact, each parsing a `Reading` into values that can be compared.

`reading` is the text as words; `scan` finds the spans that a draft must not touch. Of each kind of fact one module
compares what others parse: `amounts` (`quantities` with their `units`, `bounds` and `codes`; `rounding`, `reckoning`,
`ranges`), `polarity` (`denials`), `certainty`, `order`, `comparison` (`poles`; `compared`, `qualifiers`,
`exchanges`, `labels`), `sides_kept` (`sides`), `imaging`, `marks_kept` (`markers`, `pointing`), `inventions` (`claims`,
`places_told`, `devices`, `persons`, `causes`, `additions`), `slots`. `senses` knows the words for body parts and
findings in both registers, `binding` decides what a value is said of; the words are in tables (`wordings`).
"""

from builders.medlaybench_v.facts.reading import Reading, read
from builders.medlaybench_v.facts.scan import Fact, facts_of

__all__ = ["Fact", "Reading", "facts_of", "read"]
