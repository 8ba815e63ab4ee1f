"""An archive of a run for others: without what is private, and looked through for what is hidden."""
