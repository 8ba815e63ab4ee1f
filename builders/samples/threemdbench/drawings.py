"""Photos that nobody was photographed for: one of a diagnosis, told apart from others of it by a number.

>>> draw("stye", 1)[:3]
b'\\xff\\xd8\\xff'
"""

from __future__ import annotations

import hashlib

from builders.samples.threemdbench.canvas import Canvas
from builders.samples.threemdbench.eye import draw_eye
from builders.samples.threemdbench.look import looks
from builders.samples.threemdbench.mouth import draw_lip, draw_teeth, draw_throat
from builders.samples.threemdbench.nail import draw_nail
from builders.samples.threemdbench.skin import draw_skin


def draw(diagnosis: str, number: int) -> bytes:
    """JPEG bytes of one photo, the same for the same arguments and versions of numpy and Pillow."""
    look = looks()[diagnosis]
    digest = hashlib.sha256(f"{diagnosis} {number}".encode()).digest()
    canvas = Canvas(int.from_bytes(digest[:4], "big"))
    match look.scene:
        case "skin":
            draw_skin(canvas, look)
        case "eye":
            draw_eye(canvas, diagnosis)
        case "throat":
            draw_throat(canvas)
        case "lip":
            draw_lip(canvas)
        case "teeth":
            draw_teeth(canvas, diagnosis)
        case _:
            draw_nail(canvas, diagnosis)
    return canvas.finish()
