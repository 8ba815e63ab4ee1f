"""Turns what the Hub's library says about each try into one line in our words."""

from __future__ import annotations

import logging


def say_hub_waits_once() -> None:
    """From now on, report a Hub that does not answer when its request is first retried."""
    asking = logging.getLogger("huggingface_hub.utils._http")
    if not any(isinstance(one, _Waits) for one in asking.filters):
        asking.addFilter(_Waits())


class _Waits(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        said = record.getMessage()
        if said.startswith("Retrying in") and "[Retry 1/" in said:
            record.msg, record.args = "The Hub does not answer; retrying for half a minute", ()
            return True
        return not said.startswith("Retrying in") and " thrown while requesting " not in said
