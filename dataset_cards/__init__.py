"""One Markdown template per corpus; `builders.cards` fills it with measured statistics."""
