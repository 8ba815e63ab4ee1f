"""What people do in a study, one module and one template a task."""

from __future__ import annotations
