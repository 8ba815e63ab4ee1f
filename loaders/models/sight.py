"""Does a model see a picture? Some servers take one and leave it out in silence, and the model answers all the same."""

from __future__ import annotations

import io

from loaders.errors import ModelError
from loaders.models.asking import said_by
from loaders.models.messages import ChatModel, Message

COLOURS = ("yellow", "black")
ASKED = "Which two colours does this picture show? Answer with the names of the two colours alone."


def two_colours() -> bytes:
    """A PNG whose halves have COLOURS, which nobody guesses together."""
    from PIL import Image

    picture, file = Image.new("RGB", (256, 256), COLOURS[0]), io.BytesIO()
    picture.paste(COLOURS[1], (0, 0, 128, 256))
    picture.save(file, "PNG")
    return file.getvalue()


def names_both(answer: str) -> bool:
    """Whether an answer to ASKED names the COLOURS."""
    return all(colour in answer.casefold() for colour in COLOURS)


async def check_sight(model: ChatModel) -> None:
    """Asks a model about a picture. Raises: ModelError if it does not see it; and as `ChatModel.ask`."""
    answer = await model.ask([Message("user", ASKED, (two_colours(),))], temperature=None, max_tokens=100)
    if not names_both(said := said_by(answer.text)):
        found = f"does not see a picture of {' and '.join(COLOURS)}: it says {' '.join(said.split())[:60]!r}"
        do = "Choose a model that sees, serve it with what it sees with, or play a setting without pictures"
        raise ModelError(model.name, found=found, expected="both colours", do=do)
