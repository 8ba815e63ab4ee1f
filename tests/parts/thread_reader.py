"""What a chat model answers about a thread, computed from the prompt: a careful model, to be made careless by tests."""

from __future__ import annotations

import json
import re
from typing import Any

from loaders.medconceal import CATEGORIES, SCENARIOS

Body = dict[str, Any]
_LINE = re.compile(r"^\d+\. (patient|clinician): (\".*\")$", re.MULTILINE)


def prompt_of(body: Body) -> str:
    """The first question of the conversation."""
    return next(text_of(message) for message in body["messages"] if message["role"] == "user")


def text_of(message: Body) -> str:
    content = message["content"]
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def asked_for(body: Body) -> str:
    """Which of the prompts this is."""
    prompt = prompt_of(body)
    marks = {"rarity": '{"rarity"', "role": '{"role"', "scenarios": '{"scenarios"', "plan": '{"primary_concern"'}
    return next((name for name, mark in marks.items() if mark in prompt), "profile")


def turns_of(body: Body) -> list[tuple[str, str]]:
    """The turns between the marks of the thread."""
    return [(role, json.loads(text)) for role, text in _LINE.findall(prompt_of(body))]


def careful(body: Body) -> str:
    """The answer of a model that does what it is asked to."""
    return json.dumps(careful_answer(body))


def careful_answer(body: Body) -> Body:
    match asked_for(body):
        case "rarity":
            return {"rarity": len(prompt_of(body)) % 60}
        case "role":
            return {"role": "Other Specialist Doctor"}
        case "scenarios":
            return {"scenarios": [SCENARIOS[1]]}
        case "plan":
            return {
                "primary_concern": 1,
                "original_preference": "To carry on as up to now.",
                "recommended_plan": "Follow the treatment that was advised, with a check in some weeks.",
            }
    said = [text for role, text in turns_of(body) if role == "patient"][1:]
    quotations = [" ".join(text.split()[:6]) for text in said if len(text.split()) >= 6 and "[" not in text]
    return profile(
        [
            {
                "content": f"Holds a worry of kind {number} about what is to come",
                "category": CATEGORIES[number % 4],
                "confidence": 0.9 - number / 10,
                "evidence": [quotation],
                "cue": "There is something on my mind.",
            }
            for number, quotation in enumerate(quotations[:3])
        ]
    )


def profile(concerns: list[Body]) -> Body:
    """An answer to the profile prompt with these concerns."""
    return {
        "demographics": {
            "age": 45,
            "sex": "female",
            "marital_status": "married",
            "education": "High school diploma",
            "background": "Works in trade.",
        },
        "clinical": {
            "admission_reason": "Asks for advice on a treatment.",
            "medical_surgical_history": "A long-standing illness.",
            "adherence_behavior": "Irregular.",
        },
        "psychosocial": dict.fromkeys(
            ("personality", "current_life_situation", "family_medical_history", "lifestyle_history", "family_dynamics"),
            "Not much is known.",
        ),
        "roleplay": {"response_style": "Plain.", "disclosure_behavior": "Opens up when asked kindly."},
        "self_management_domains": dict.fromkeys(
            ("awareness", "adherence", "communication", "regimen_execution"), "Fair."
        ),
        "hidden_concerns": concerns,
    }
