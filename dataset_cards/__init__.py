"""One Markdown template per corpus; `builders.release.cards` fills it with measured statistics."""
