"""Small sources made for the project, so that every recipe runs with no key and no network."""
