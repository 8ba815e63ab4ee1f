"""`bedside study`: people work on the same cases as models; one file per command."""
