"""`bedside select`: which models play patient and assessor, by the paper's tests; and physicians beside a model."""
