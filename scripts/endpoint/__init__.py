"""A product with its own API: the check of its file, and two files to start from (`over_json`, `over_sse`)."""
