"""A product with an API of its own: the check of its file, and two files to start from (`over_json`, `over_sse`)."""
