"""`bedside run BASELINE DATA`: evaluate captions or models, and keep what was run beside the numbers."""
