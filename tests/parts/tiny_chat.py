"""A real chat model with random weights behind a real server, small enough for a test.

    with tiny_chat_server(tmp_path) as (base_url, model_name):
        model = open_model(f"openai-api/tiny/{model_name}", base_url=base_url)  # with TINY_API_KEY set

`transformers serve` runs offline on the CPU in a process of its own, which first makes the model: a Llama of two layers
and a tokenizer trained on a few sentences. What it says is noise, the same noise for the same prompt at temperature 0.
Tests skip where `MISSING` names a package.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from scripts.bench.postgres import free_port

_NEEDED = ("torch", "transformers", "tokenizers", "accelerate", "fastapi", "uvicorn", "openai")
MISSING = [package for package in _NEEDED if find_spec(package) is None]
"""Packages that the server needs and this environment lacks."""

MODEL_NAME = "tiny"
_LONGEST = 100  # tokens of an answer
_PATIENCE = 120.0  # seconds for the server to come up on a busy machine
_TEMPLATE = """{% for message in messages %}<|{{ message.role }}|>{{ message.content }}
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}"""
_SENTENCES = [
    "The chest radiograph shows a small left pleural effusion.",
    "The picture of the chest shows a little fluid around the left lung.",
    "There is no fracture and no sign of infection.",
    '{"layman_caption": "A bright spot in the liver.", "kept": ["3 cm", "left"]}',
]


@contextmanager
def tiny_chat_server(folder: Path) -> Iterator[tuple[str, str]]:
    """Makes the model in `folder / "tiny"`, serves it on a free port, and yields (base_url, model_name).

    Raises RuntimeError with the server's last words when it does not come up.
    """
    port = free_port()
    environment = os.environ | {
        "HF_HUB_OFFLINE": "1",
        "CUDA_VISIBLE_DEVICES": "",
        "OMP_NUM_THREADS": "1",
        "TOKENIZERS_PARALLELISM": "false",
    }
    log = folder / "tiny_chat.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, str(Path(__file__).resolve()), str(port)],
            cwd=folder,  # the model's name is its folder's, seen from here
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        _wait_until_up(port, process, log)
        yield f"http://127.0.0.1:{port}/v1", MODEL_NAME
    finally:
        process.kill()
        process.wait()


def _wait_until_up(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    raise RuntimeError(f"transformers serve did not come up:\n{log.read_text(errors='replace')[-2000:]}")


def make_model(folder: Path) -> None:
    """Writes the model and its tokenizer, half a megabyte, with the same weights each time."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    core = Tokenizer(models.BPE())
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=["<|end|>", "<|system|>", "<|user|>", "<|assistant|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    core.train_from_iterator(_SENTENCES, trainer)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, eos_token="<|end|>", pad_token="<|end|>")
    tokenizer.chat_template = _TEMPLATE
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        max_position_embeddings=4096,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=None,
    )
    LlamaForCausalLM(config).save_pretrained(folder)


def _serve(port: int) -> None:
    make_model(Path(MODEL_NAME))
    from transformers import LlamaForCausalLM, MaxLengthCriteria, StoppingCriteriaList
    from transformers.cli.serve import Serve

    class Briefly(MaxLengthCriteria):
        """A distinct type, so that it does not replace a criterion of the request."""

    generate = LlamaForCausalLM.generate

    def brief(self: LlamaForCausalLM, *args: Any, **settings: Any) -> Any:
        """Noise never ends by itself, and may be as long as an answer with thoughts: minutes of it are no better."""
        prompt = settings["input_ids"] if "input_ids" in settings else args[0]
        ends = [*(settings.pop("stopping_criteria", None) or ()), Briefly(prompt.shape[1] + _LONGEST)]
        return generate(self, *args, stopping_criteria=StoppingCriteriaList(ends), **settings)

    LlamaForCausalLM.generate = brief

    # The body of the command `transformers serve tiny`, without a second process that loads torch again.
    Serve(force_model=MODEL_NAME, host="127.0.0.1", port=port, device="cpu")


if __name__ == "__main__":
    _serve(int(sys.argv[1]))
