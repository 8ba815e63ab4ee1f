"""Words of captions: an entry of a vocabulary and its plural, stacks of nouns, abbreviations, and what reads well."""
