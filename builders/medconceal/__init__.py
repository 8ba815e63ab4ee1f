"""The builder of MedConceal: from threads of r/AskDocs, or synthetic cases, to a release of patient profiles."""
