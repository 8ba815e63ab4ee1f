"""The device of a network: which one, in which precision, and with reproducible bits."""

from __future__ import annotations

import os
from typing import Any


def accelerator_of(device: str | None, precision: str) -> Any:
    """The `Accelerator` that runs a network."""
    import torch
    from accelerate import Accelerator
    from accelerate.state import AcceleratorState

    from loaders.models.encoders_torch import Setting

    chosen = Setting.of(device, "fp32").device
    if chosen.startswith("cuda:"):
        torch.cuda.set_device(int(chosen.partition(":")[2]))
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # without it cuBLAS is not reproducible
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.backends.cudnn.benchmark = False
    AcceleratorState._reset_state()  # a process may train twice, in another precision
    return Accelerator(mixed_precision="bf16" if precision == "bf16" else "no", cpu=chosen == "cpu")
