"""What people do in a study: one module and one template per task."""

from __future__ import annotations
