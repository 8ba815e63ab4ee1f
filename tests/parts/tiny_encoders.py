"""The paper's encoders with tiny random weights in a folder laid out like the Hub's cache, and one without torch.

    hub = make_hub(tmp_path)                    # seconds; every repository and file that the eight names ask for
    with tiny_architectures(tmp_path):          # ViT-B-32 and the like are small while this lasts
        encoder = open_encoder("CoCa-Large")        # with HF_HUB_CACHE at `hub`

Nothing in the loading code is replaced: repositories, files, their formats and their keys are the real ones, and so is
everything in open_clip's own configurations but the sizes.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from loaders.models.encoder import Encoder, Vectors, unit

COMMIT = "0123456789abcdef0123456789abcdef01234567"
BERT = "microsoft/BiomedNLP-BiomedBERT-base-uncased-abstract"
BIOMED_CLIP = "microsoft/BiomedCLIP-PubMedBERT_256-vit_base_patch16_224"
PUBMED_CLIP = "flaviagiammarino/pubmed-clip-vit-base-patch32"
HUGE = "laion/CLIP-ViT-H-14-laion2B-s32B-b79K"
PMC_FILES = ("image_encoder(resnet50).pth", "text_encoder.pth", "text_projection_layer.pth")
WORDS = (
    "the a of in left right chest lung liver shows radiograph ct mri no small large effusion fracture ##s ##al".split()
)


class FakeEncoder(Encoder):
    """An encoder that derives `dim` numbers from a digest of the item: distinct, reproducible, and counted.

    Captions of more than 20 words are truncated; a caption or picture listed in `poison` becomes NaN.
    """

    def __init__(self, dim: int = 8, *, version: str = "1", poison: Sequence[str] = ()) -> None:
        self.name = "fake"
        self.dim = dim
        self.context_length = 20
        self.stand_in = True
        self.version = version
        self.poison = set(poison)
        self.calls: list[int] = []

    @property
    def identity(self) -> dict[str, str]:
        return {"model": "fake", "version": self.version}

    def prepare(self, image: Image.Image) -> bytes:
        return image.tobytes()

    def encode_prepared(self, prepared: Sequence[bytes]) -> Vectors:
        return self._vectors(prepared)

    def encode_texts(self, texts: Sequence[str]) -> tuple[Vectors, list[bool]]:
        vectors = self._vectors([text.encode() for text in texts])
        return vectors, [len(text.split()) > self.context_length for text in texts]

    def _vectors(self, items: Sequence[bytes]) -> Vectors:
        self.calls.append(len(items))
        vectors = np.empty((len(items), self.dim), dtype=np.float32)
        for row, item in enumerate(items):
            seed = int.from_bytes(hashlib.sha256(self.version.encode() + item).digest()[:8], "little")
            vectors[row] = np.random.default_rng(seed).standard_normal(self.dim)
            if item.decode("latin-1") in self.poison:
                vectors[row, 0] = np.nan
        return unit(vectors)


@contextmanager
def tiny_architectures(folder: Path) -> Iterator[None]:
    """open_clip's configurations of the architectures in use, with only their sizes changed."""
    import open_clip
    from open_clip import factory

    sizes = {
        "embed_dim": 24,
        "vision_cfg": {"image_size": 32, "layers": 2, "width": 32, "head_width": 16, "patch_size": 16},
        "text_cfg": {"width": 24, "heads": 2, "layers": 2},
        "multimodal_cfg": {"width": 24, "heads": 2, "layers": 1, "attn_pooler_heads": 2},
    }
    configs, paths = dict(factory._MODEL_CONFIGS), list(factory._MODEL_CONFIG_PATHS)
    target = folder / "architectures"
    target.mkdir(exist_ok=True)
    for name in ("ViT-B-32-quickgelu", "ViT-B-32", "ViT-L-14", "coca_ViT-L-14"):
        config = json.loads((Path(factory.__file__).parent / "model_configs" / f"{name}.json").read_bytes())
        for part, values in sizes.items():
            if part in config:
                config[part] = {**config[part], **values} if isinstance(values, dict) else values
        if "attn_pooler_heads" in config["vision_cfg"]:
            config["vision_cfg"]["attn_pooler_heads"] = 2
        (target / f"{name}.json").write_text(json.dumps(config))
    open_clip.add_model_config(target)
    try:
        yield
    finally:
        factory._MODEL_CONFIGS, factory._MODEL_CONFIG_PATHS[:] = configs, paths


def make_hub(folder: Path) -> Path:
    """The cache folder, with everything that the paper's names need."""
    import torch

    hub = folder / "hub"
    with torch.random.fork_rng(devices=[]), tiny_architectures(folder):
        torch.manual_seed(0)
        _tagged(hub)
        _huge(hub)
        for name in (BERT, f"{BERT}-fulltext"):
            _bert(repository(hub, name))
        _biomed_clip(hub)
        _pubmed_clip(hub)
        _pmc_clip(hub)
    return hub


def repository(hub: Path, name: str, kind: str = "model") -> Path:
    """The snapshot folder of a repository, created if missing."""
    top = hub / f"{kind}s--{name.replace('/', '--')}"
    snapshot = top / "snapshots" / COMMIT
    snapshot.mkdir(parents=True, exist_ok=True)
    (top / "refs").mkdir(exist_ok=True)
    (top / "refs" / "main").write_text(COMMIT)
    return snapshot


def pictures(count: int) -> list[Image.Image]:
    """Coarse random patterns, each of a different size, every second one grey."""
    made = []
    for number in range(count):
        values = np.random.default_rng(number).integers(0, 256, (3, 3, 3), dtype=np.uint8)
        pattern = Image.fromarray(values[:, :, 0] if number % 2 else values)
        made.append(pattern.resize((50, 40 + number), Image.Resampling.BICUBIC))
    return made


def png(image: Image.Image) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, format="PNG")
    return buffer.getvalue()


def _tagged(hub: Path) -> None:
    """What the tags of open_clip stand for, in each of the formats in use."""
    import open_clip
    import torch
    from safetensors.torch import save_file

    openai = repository(hub, "timm/vit_base_patch32_clip_224.openai")
    save_file(open_clip.create_model("ViT-B-32-quickgelu").state_dict(), openai / "open_clip_model.safetensors")
    for architecture, repo in (
        ("ViT-B-32", "laion/CLIP-ViT-B-32-laion2B-s34B-b79K"),
        ("coca_ViT-L-14", "laion/CoCa-ViT-L-14-laion2B-s13B-b90k"),
    ):
        weights = open_clip.create_model(architecture).state_dict()
        torch.save(weights, repository(hub, repo) / "open_clip_pytorch_model.bin")
    # A training checkpoint: the weights of a wrapped model, next to the optimizer's state.
    weights = {f"module.{name}": value for name, value in open_clip.create_model("ViT-L-14").state_dict().items()}
    checkpoint = {"epoch": 9, "name": "run", "state_dict": weights, "optimizer": {"state": {}, "param_groups": []}}
    torch.save(checkpoint, repository(hub, "BIOMEDICA/BMC_CLIP_CF") / "BMC_CLIP_CF.pt")


def _huge(hub: Path) -> None:
    import open_clip
    from safetensors.torch import save_file

    snapshot = repository(hub, HUGE)
    config = open_clip.get_model_config("ViT-B-32")
    (snapshot / "open_clip_config.json").write_text(json.dumps({"model_cfg": config, "preprocess_cfg": _preprocess()}))
    save_file(open_clip.create_model("ViT-B-32").state_dict(), snapshot / "open_clip_model.safetensors")


def _biomed_clip(hub: Path) -> None:
    """A ViT of timm and a BERT whose configuration and tokenizer are in another repository."""
    import open_clip
    import torch

    snapshot = repository(hub, BIOMED_CLIP)
    text = {
        "hf_model_name": BERT,
        "hf_tokenizer_name": BERT,
        "hf_proj_type": "mlp",
        "hf_pooler_type": "cls_last_hidden_state_pooler",
        "context_length": 256,
    }
    vision = {
        "timm_model_name": "test_vit",
        "timm_model_pretrained": False,
        "timm_pool": "",
        "timm_proj": "linear",
        "image_size": 160,
    }
    config = {"embed_dim": 24, "vision_cfg": vision, "text_cfg": text}
    (snapshot / "open_clip_config.json").write_text(json.dumps({"model_cfg": config, "preprocess_cfg": _preprocess()}))
    local = {**text, "hf_model_name": str(repository(hub, BERT)), "hf_model_pretrained": False}
    model = open_clip.model.CustomTextCLIP(embed_dim=24, vision_cfg=vision, text_cfg=local)
    weights = model.state_dict()
    # The published file holds this buffer, which is no longer part of the model.
    weights["text.transformer.embeddings.position_ids"] = torch.arange(512).unsqueeze(0)
    torch.save(weights, snapshot / "open_clip_pytorch_model.bin")


def _bert(snapshot: Path) -> None:
    """Configuration and WordPiece vocabulary in the files that such repositories have; the weights are elsewhere."""
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    letters = [
        *"abcdefghijklmnopqrstuvwxyz0123456789.,-()",
        *(f"##{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"),
    ]
    vocabulary = [*special, *letters, *(word for word in WORDS if len(word) > 1)]
    (snapshot / "vocab.txt").write_text("\n".join(vocabulary) + "\n")
    (snapshot / "tokenizer_config.json").write_text(json.dumps({"do_lower_case": True}))
    config = {
        "architectures": ["BertForMaskedLM"],
        "model_type": "bert",
        "vocab_size": len(vocabulary),
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 64,
        "max_position_embeddings": 512,
        "initializer_range": 0.3,  # the usual 0.02 makes every text the same in so small a model
        "pad_token_id": 0,
    }
    (snapshot / "config.json").write_text(json.dumps(config))


def _pubmed_clip(hub: Path) -> None:
    import torch
    from tokenizers import pre_tokenizers
    from transformers import CLIPConfig, CLIPModel

    snapshot = repository(hub, PUBMED_CLIP)
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    merges = ["c h", "ch e", "che s", "ches t</w>"]
    pieces = [*alphabet, *(f"{letter}</w>" for letter in alphabet), *("".join(merge.split()) for merge in merges)]
    vocabulary = {piece: place for place, piece in enumerate([*pieces, "<|startoftext|>", "<|endoftext|>"])}
    (snapshot / "vocab.json").write_text(json.dumps(vocabulary))
    (snapshot / "merges.txt").write_text("\n".join(["#version: 0.2", *merges]) + "\n")
    tokenizer = {"tokenizer_class": "CLIPTokenizer", "model_max_length": 77, "pad_token": "<|endoftext|>"}
    (snapshot / "tokenizer_config.json").write_text(json.dumps(tokenizer))
    processor = {
        "image_processor_type": "CLIPImageProcessor",
        "feature_extractor_type": "CLIPFeatureExtractor",
        "size": 32,
        "crop_size": 32,
        "do_center_crop": True,
        "do_normalize": True,
        "do_resize": True,
        "image_mean": _preprocess()["mean"],
        "image_std": _preprocess()["std"],
        "resample": 3,
    }
    (snapshot / "preprocessor_config.json").write_text(json.dumps(processor))
    tower = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    config = CLIPConfig(
        projection_dim=24,
        # In the configurations of that time 2 ends a text, whatever the vocabulary says.
        text_config={**tower, "vocab_size": len(vocabulary), "max_position_embeddings": 77, "eos_token_id": 2},
        vision_config={**tower, "image_size": 32, "patch_size": 16},
    )
    model = CLIPModel(config)
    (snapshot / "config.json").write_text(json.dumps({**config.to_dict(), "architectures": ["CLIPModel"]}))
    torch.save(model.state_dict(), snapshot / "pytorch_model.bin")


def _pmc_clip(hub: Path) -> None:
    import torch
    from open_clip.modified_resnet import ModifiedResNet
    from transformers import AutoConfig, AutoModel

    snapshot = repository(hub, "axiong/pmc_oa", kind="dataset")
    image_tower = ModifiedResNet(layers=[1, 2, 1, 1], output_dim=24, heads=8, image_size=64, width=8)
    for name, parameter in image_tower.named_parameters():
        if name.endswith("bn3.weight"):  # initially zero, which would hide the residual branches
            torch.nn.init.normal_(parameter)
        elif "conv" in name or "bn" in name:  # with untrained weights, the signal fades on its way through
            parameter.data *= 2
    text_tower = AutoModel.from_config(AutoConfig.from_pretrained(repository(hub, BERT)))
    text_weights: dict[str, Any] = text_tower.state_dict()
    text_weights["embeddings.position_ids"] = torch.arange(512).unsqueeze(0)
    for file, content in zip(
        PMC_FILES, (image_tower.state_dict(), text_weights, torch.nn.Parameter(torch.randn(32, 24))), strict=True
    ):
        torch.save(content, snapshot / file)


def _preprocess() -> dict[str, Any]:
    return {"mean": [0.48145466, 0.4578275, 0.40821073], "std": [0.26862954, 0.26130258, 0.27577711]}
