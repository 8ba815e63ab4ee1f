"""Training, step by step from a checkpoint or from the start, on one device or several, always with the same bits.

RUN/training/checkpoint.safetensors    weights, their average, the optimizer's moments, and how far the training is
RUN/training/best.safetensors          the average that was best on validation
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch.utils.data import DataLoader

from baselines.results.run import flattened
from baselines.statistics.classification import classification_scores, occurring
from baselines.threemdbench.classifier.network import Network
from baselines.threemdbench.classifier.pictures import Pictures, TrainViews, answer
from baselines.threemdbench.classifier.recipe import Recipe, epoch_order, key
from baselines.threemdbench.classifier.weights import read_tensors, write_tensors
from loaders.errors import InputError, ModelError
from loaders.files.paths import is_there

CHECKPOINT, BEST = "checkpoint.safetensors", "best.safetensors"
SMALLER = "Use a smaller --learning-rate, with --restart to start over"
"""What to do about a training that diverged."""


@dataclass(slots=True)
class _Position:
    """The next step, and what was measured on the way to it: for each epoch, its loss, and how the averaged weights do
    on validation (proportions)."""

    epoch: int = 0
    step: int = 0
    loss: float = 0.0  # sum over the steps of this epoch
    best: float = -1.0
    best_epoch: int = -1
    history: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Told:
    """Callbacks for each step (epoch, step, steps, mean loss so far), each epoch, and the place of a checkpoint."""

    step: Callable[[int, int, int, float], None]
    epoch: Callable[[Mapping[str, Any]], None]
    resumed: Callable[[int, int], None]


class Training:
    """A training on pictures["train"] until pictures["validation"] no longer improves; it resumes from `folder`.

    `identity` is what must not change between start and resumption besides the recipe: data, network, versions. A
    checkpoint is saved after every epoch, and after the step at which the last one is `checkpoint_seconds` old.

    Raises InputError for a damaged checkpoint or one of another training, ModelError as `Network.check`.
    """

    def __init__(
        self,
        network: Network,
        pictures: Mapping[str, Pictures],
        recipe: Recipe,
        folder: Path,
        accelerator: Any,
        told: Told,
        *,
        identity: Mapping[str, Any],
        workers: int = 0,
        checkpoint_seconds: float = 300.0,
    ) -> None:
        from timm.utils import ModelEmaV3

        self.network, self.recipe, self.folder, self.accelerator = network, recipe, folder, accelerator
        self.pictures, self.workers, self.seconds, self.told = pictures, workers, checkpoint_seconds, told
        count = len(pictures["train"])
        self.batch = min(recipe.batch_size, count)
        self.steps = recipe.steps(count)
        if self.batch % accelerator.num_processes:
            raise InputError(
                "batch size",
                found=f"{self.batch} for {accelerator.num_processes} processes",
                expected="a multiple of their number",
            )
        self.identity = {
            **identity, "recipe": asdict(recipe), "processes": accelerator.num_processes,
            "device": accelerator.device.type,
        }  # fmt: skip
        self.module = network.module.to(accelerator.device, memory_format=torch.channels_last)
        network.check(self.batch // accelerator.num_processes)
        self.average = ModelEmaV3(self.module, decay=recipe.ema, use_warmup=True)
        self.optimizer = torch.optim.AdamW(_groups(self.module, recipe), lr=recipe.learning_rate, foreach=True)
        self.position = _Position()
        self._resume()
        self.model, self.prepared = accelerator.prepare(self.module, self.optimizer)
        self.views = TrainViews(pictures["train"], network.input, recipe)
        self.loss = torch.nn.CrossEntropyLoss(label_smoothing=recipe.label_smoothing)

    def run(self) -> tuple[Any, list[dict[str, Any]], int]:
        """Train to the end: the network with the weights that were best on validation, the outcome of every epoch, and
        which was best.

        Raises ModelError if the loss, or an output on validation, is not finite or the device runs out of memory,
        KeyboardInterrupt with a message to show.
        """
        try:
            while not self._finished():
                self._epoch()
        except KeyboardInterrupt:
            raise KeyboardInterrupt(self._stopped()) from None
        except torch.OutOfMemoryError:
            found = f"{self.accelerator.device} is out of memory for a batch of {self.batch}"
            raise ModelError(self.network.name, found=found, do="Use a smaller --batch-size or --size") from None
        tensors, _ = read_tensors(self.folder / BEST, do=self._again())
        best = self.average.module  # not a copy of self.module, whose forward accelerate has bound to itself
        best.load_state_dict(tensors)
        return best.eval(), self.position.history, self.position.best_epoch

    def _finished(self) -> bool:
        place = self.position
        return place.epoch >= self.recipe.epochs or (
            place.step == 0 and place.best_epoch >= 0 and place.epoch - 1 - place.best_epoch >= self.recipe.patience
        )

    def _epoch(self) -> None:
        place, recipe = self.position, self.recipe
        order = epoch_order(self.pictures["train"].labels, recipe, place.epoch)
        rank, world = self.accelerator.process_index, self.accelerator.num_processes
        batches = [
            [
                (int(at), key(recipe.seed, "view", place.epoch, step, int(at), slot))
                for slot, at in enumerate(order[step * self.batch : (step + 1) * self.batch])
            ][rank::world]
            for step in range(place.step, self.steps)
        ]
        saved = time.monotonic()
        self.model.train()
        loader = DataLoader(self.views, batch_sampler=batches, num_workers=self.workers)
        for images, labels in loader:
            self._step(images, labels)
            place.step += 1
            self.told.step(place.epoch, place.step, self.steps, place.loss / place.step)
            if time.monotonic() - saved >= self.seconds and place.step < self.steps:
                self._save()
                saved = time.monotonic()
        self._validate()
        self._save()

    def _step(self, images: Any, labels: Any) -> None:
        place, recipe = self.position, self.recipe
        number = place.epoch * self.steps + place.step
        share = recipe.rate(number, recipe.epochs * self.steps)
        for group in self.optimizer.param_groups:
            group["lr"] = recipe.learning_rate * group["share"] * share
        # Dropout draws from here on; each process has its own generator.
        torch.manual_seed(key(recipe.seed, "step", place.epoch, place.step, self.accelerator.process_index))
        device = self.accelerator.device
        with self.accelerator.autocast():
            logits = self.model(images.to(device, memory_format=torch.channels_last))
        loss = self.loss(logits.float(), labels.to(device))
        self.accelerator.backward(loss)
        self.accelerator.clip_grad_norm_(self.model.parameters(), recipe.clip)
        self.prepared.step()
        self.prepared.zero_grad()
        self.average.update(self.module, step=number)
        value = float(self.accelerator.reduce(loss.detach(), "mean"))
        if not math.isfinite(value):
            raise ModelError(
                self.network.name,
                found=f"the loss is {value} at step {place.step} of epoch {place.epoch + 1}",
                do=SMALLER,
            )
        place.loss += value

    def _validate(self) -> None:
        from accelerate.utils import broadcast

        place, pictures = self.position, self.pictures["validation"]
        # Each process averaged the batch statistics that it saw itself: all continue with those of the first.
        broadcast(list(self.average.module.buffers()))
        logits = answer(
            self.average.module, pictures, self.network.input, self.accelerator, workers=self.workers,
            name=self.network.name, do=SMALLER,
        )  # fmt: skip
        labels, _ = occurring(pictures.labels, range(logits.shape[1]))
        scores = classification_scores(pictures.labels, logits.argmax(axis=1).tolist(), labels)
        place.history.append(
            {
                "epoch": place.epoch,
                "loss": place.loss / self.steps,
                "macro_f1": scores.macro_f1,
                "accuracy": scores.accuracy,
            }
        )
        if scores.macro_f1 > place.best:
            place.best, place.best_epoch = scores.macro_f1, place.epoch
            if self.accelerator.is_main_process:
                # Before the checkpoint: if interrupted in between, this epoch ends once more, with the same weights.
                write_tensors(self.folder / BEST, self.average.module.state_dict(), {"epoch": place.epoch})
        place.epoch, place.step, place.loss = place.epoch + 1, 0, 0.0
        self.told.epoch(place.history[-1])

    def _save(self) -> None:
        if self.accelerator.is_main_process:
            tensors = {f"model.{name}": tensor for name, tensor in self.module.state_dict().items()}
            tensors |= {f"average.{name}": tensor for name, tensor in self.average.module.state_dict().items()}
            for number, moments in self.optimizer.state_dict()["state"].items():
                tensors |= {f"optimizer.{number}.{name}": tensor for name, tensor in moments.items()}
            write_tensors(
                self.folder / CHECKPOINT, tensors, {"identity": self.identity, "position": asdict(self.position)}
            )
        self.accelerator.wait_for_everyone()

    def _resume(self) -> None:
        path = self.folder / CHECKPOINT
        if not is_there(path):
            return
        tensors, facts = read_tensors(path, do=self._again())
        before, now = (flattened(identity, ", ") for identity in (facts["identity"], self.identity))
        for name, value in now.items():
            if before.get(name) != value:
                found = f"a training with another {name}: {before.get(name)}"
                do = "Use another RUN folder, or --restart to start over"
                raise InputError(path, found=found, expected=str(value), do=do)
        parts: dict[str, dict[str, Any]] = {"model": {}, "average": {}, "optimizer": {}}
        for name, tensor in tensors.items():
            kind, _, rest = name.partition(".")
            parts[kind][rest] = tensor
        self.module.load_state_dict(parts["model"])
        self.average.module.load_state_dict(parts["average"])
        moments: dict[int, dict[str, Any]] = {}
        for name, tensor in parts["optimizer"].items():
            number, _, moment = name.partition(".")
            moments.setdefault(int(number), {})[moment] = tensor
        groups = self.optimizer.state_dict()["param_groups"]
        self.optimizer.load_state_dict({"state": moments, "param_groups": groups})
        self.position = _Position(**facts["position"])
        self.told.resumed(self.position.epoch, self.position.step)

    def _again(self) -> str:
        return f"--restart starts over: it deletes the contents of {self.folder}"

    def _stopped(self) -> str:
        if not is_there(self.folder / CHECKPOINT):
            return "Stopped before the first checkpoint: the same command starts again"
        return f"Stopped. The last checkpoint is in {self.folder}; run the same command again to resume"


def _groups(module: Any, recipe: Recipe) -> list[dict[str, Any]]:
    """Parameters by depth and by whether they decay: the first layer learns at `depth_decay` of the head's rate."""
    from timm.optim import param_groups_layer_decay

    # Whatever the decay, timm's scale orders parameters by the number of layers above them.
    layers = param_groups_layer_decay(module, recipe.weight_decay, layer_decay=0.5)
    levels = sorted({group["lr_scale"] for group in layers}, reverse=True)
    groups = []
    for group in layers:
        above = levels.index(group["lr_scale"]) / max(1, len(levels) - 1)
        share = recipe.depth_decay**above
        groups.append({"params": group["params"], "weight_decay": group["weight_decay"], "share": share})
    return groups
