"""A real chat model with random weights behind a real server, small enough for a test.

    with tiny_chat_server(tmp_path) as (base_url, model_name):
        model = open_model(f"openai-api/tiny/{model_name}", base_url=base_url)  # with TINY_API_KEY set

`transformers serve` runs offline on the CPU, in a thread, with a model that is made first: a Llama of two layers and a
tokenizer trained on a few sentences. What it says is noise, the same noise for the same prompt at temperature 0. Tests
skip where `MISSING` names a package.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import chdir, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from scripts.bench.postgres import free_port
from tests.parts.waiting import wait_until

_NEEDED = ("torch", "transformers", "tokenizers", "accelerate", "fastapi", "uvicorn", "openai")
MISSING = [package for package in _NEEDED if find_spec(package) is None]
"""Packages that the server needs and this environment lacks."""

MODEL_NAME = "tiny"
_LONGEST = 100  # tokens of an answer
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
    """Makes the model in `folder / "tiny"`, serves it on a free port, and yields (base_url, model_name)."""
    from huggingface_hub import constants
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

    with pytest.MonkeyPatch.context() as patch, chdir(folder):  # the model's name is its folder's, seen from here
        patch.setattr(constants, "HF_HUB_OFFLINE", True)
        patch.setattr(LlamaForCausalLM, "generate", brief)
        port = free_port()
        make_model(Path(MODEL_NAME))
        served = Serve(force_model=MODEL_NAME, host="127.0.0.1", port=port, device="cpu", non_blocking=True)
        try:
            wait_until(lambda: served.server.started)
            yield f"http://127.0.0.1:{port}/v1", MODEL_NAME
        finally:
            served.kill_server()


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
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        LlamaForCausalLM(config).save_pretrained(folder)
