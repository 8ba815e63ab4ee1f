"""A network's answers for pictures: the mean of its logits on the picture and on its mirror image."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch.utils.data import DataLoader, Subset

from baselines.statistics.arrays import Floats
from baselines.threemdbench.classifier.network import Input
from baselines.threemdbench.classifier.pictures import Pictures
from baselines.threemdbench.classifier.views import TestViews


def answer(module: Any, pictures: Pictures, input: Input, accelerator: Any, *, workers: int = 0) -> Floats:
    """Logits (N, classes), the same in every process: each process computes its share of the pictures."""
    from accelerate.utils import gather_object

    rank, world = accelerator.process_index, accelerator.num_processes
    mine = list(range(rank, len(pictures), world))
    loader = DataLoader(Subset(TestViews(pictures, input), mine), batch_size=64, num_workers=workers)
    answered: list[Any] = []
    training = module.training
    module.eval()
    with torch.inference_mode(), accelerator.autocast():
        for images in loader:
            batch = images.to(accelerator.device, memory_format=torch.channels_last)
            logits = (module(batch).float() + module(batch.flip(-1)).float()) / 2
            answered.extend(logits.double().cpu().numpy())
    module.train(training)
    if world == 1:
        return np.stack(answered)
    pairs = gather_object(list(zip(mine, answered, strict=True)))
    return np.stack([logits for _, logits in sorted(pairs, key=lambda pair: pair[0])])
