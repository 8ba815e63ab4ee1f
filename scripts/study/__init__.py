"""`bedside study`: people before the same cases, one file a command."""
