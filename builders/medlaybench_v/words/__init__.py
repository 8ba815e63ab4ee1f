"""Words of captions: vocabulary entries and their plurals, noun stacks, abbreviations, and what reads well."""
