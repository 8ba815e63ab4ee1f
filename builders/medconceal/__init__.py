"""The builder of MedConceal: threads of r/AskDocs, or synthetic cases, to a release of patient profiles."""
