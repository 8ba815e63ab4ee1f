"""Build, check and publish corpora. Never imported by `baselines`."""
