"""`bedside run BASELINE DATA`: evaluate captions or models, and store a record of the run with the numbers."""
