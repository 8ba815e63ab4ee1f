"""An archive of a run for others: without what is private, and searched for what is hidden, as far as words tell."""
