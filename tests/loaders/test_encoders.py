"""Each adapter's real loading code, offline, on tiny random weights in a folder laid out like the Hub's cache."""

from __future__ import annotations

import json
import os
import shutil
import sys
import warnings
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from loaders.errors import InputError, MissingExtra, ModelError
from loaders.models.encoder import Encoder
from loaders.models.encoders import PAPER_MODELS, open_encoder, read_embeddings
from loaders.models.sentences import open_sentence_encoder
from tests.parts import tiny_encoders
from tests.parts.processes import printed
from tests.parts.tiny_encoders import (
    BERT,
    BIOMED_CLIP,
    HUGE,
    PUBMED_CLIP,
    make_hub,
    pictures,
    repository,
    tiny_architectures,
)

TEXTS = ["The chest radiograph shows a small effusion", "no fracture of the left lung", "liver, 3.5 mm"]
CONTEXT = {"CoCa-Large": 76, "BiomedCLIP": 256}  # the others: 77


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The fake cache, while there is no way to the Hub and open_clip's architectures are small."""
    for package in ("torch", "open_clip", "timm", "transformers", "safetensors"):
        pytest.importorskip(package)
    from huggingface_hub import constants

    folder = tmp_path_factory.mktemp("encoders")
    with pytest.MonkeyPatch.context() as patch, tiny_architectures(folder):
        patch.setattr(constants, "HF_HUB_OFFLINE", True)
        hub = make_hub(folder)
        patch.setattr(constants, "HF_HUB_CACHE", str(hub))
        yield hub


@pytest.fixture
def own_hub(hub: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the cache, to break."""
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    return Path(shutil.copytree(hub, tmp_path / "hub"))


@pytest.fixture
def offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No way to the Hub, and an empty cache."""
    pytest.importorskip("open_clip")
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))


def torch_unit(vectors: Any) -> np.ndarray[Any, Any]:
    values = vectors.detach().double().numpy()
    return np.asarray(values / np.linalg.norm(values, axis=1, keepdims=True))


def stacked(transform: Any) -> Any:
    import torch

    return torch.stack([transform(picture) for picture in pictures(4)])


def agree(encoder: Encoder, images: Any, texts: Any) -> None:
    """The encoder gives what was computed from the weights without it."""
    np.testing.assert_allclose(encoder.encode_images(pictures(4)), torch_unit(images), atol=2e-5)
    np.testing.assert_allclose(encoder.encode_texts(TEXTS)[0], torch_unit(texts), atol=2e-5)


@pytest.mark.parametrize("name", PAPER_MODELS)
def test_every_model_of_the_paper_opens_and_encodes(name: str, hub: Path) -> None:
    encoder = open_encoder(name.lower())  # names are found whatever their case
    assert (encoder.name, encoder.dim, encoder.stand_in) == (name, 24, False)
    assert encoder.identity["model"] == PAPER_MODELS[name]
    assert encoder.identity["revision"] == tiny_encoders.COMMIT
    assert encoder.context_length == CONTEXT.get(name, 77)

    images, (texts, _) = encoder.encode_images(pictures(4)), encoder.encode_texts(TEXTS)
    assert (images.shape, texts.shape) == ((4, 24), (3, 24))
    assert images.dtype == texts.dtype == np.float32
    for vectors in (images, texts):
        cosines = vectors.astype(np.float64) @ vectors.T
        np.testing.assert_allclose(np.diag(cosines), 1, atol=1e-6)
        assert cosines[~np.eye(len(cosines), dtype=bool)].max() < 0.9999, "different items, the same embedding"
    # What stands beside an item changes nothing but rounding.
    np.testing.assert_allclose(encoder.encode_images(pictures(4)[2:3]), images[2:3], atol=2e-6)
    np.testing.assert_allclose(encoder.encode_texts(TEXTS[1:2])[0], texts[1:2], atol=2e-6)

    # "chest" is one token everywhere, and two places are taken by the marks of beginning and end.
    fits = encoder.context_length - 2
    longest = [" ".join(["chest"] * count) for count in (fits - 1, fits, fits + 1, 3 * fits)]
    vectors, truncated = encoder.encode_texts(longest)
    assert truncated == [False, False, True, True]
    np.testing.assert_allclose(vectors[1], vectors[2], atol=1e-6)
    assert np.abs(vectors[0] - vectors[1]).max() > 1e-4

    assert encoder.encode_images([]).shape == encoder.encode_texts([])[0].shape == (0, 24)


def test_open_clip_by_tag_is_what_open_clip_computes(hub: Path) -> None:
    import open_clip

    weights = repository(hub, "timm/vit_base_patch32_clip_224.openai") / "open_clip_model.safetensors"
    made: dict[str, Any] = {}
    for architecture in ("ViT-B-32-quickgelu", "ViT-B-32"):
        model, _, transform = open_clip.create_model_and_transforms(architecture, pretrained=str(weights))
        model.eval()
        tokens = open_clip.get_tokenizer(architecture)(TEXTS)
        made[architecture] = model.encode_image(stacked(transform)), model.encode_text(tokens)
    encoder = open_encoder("OpenAI-CLIP-Base")
    agree(encoder, *made["ViT-B-32-quickgelu"])
    # The trap: the same weights load as well into the architecture with the other activation.
    assert np.abs(encoder.encode_images(pictures(4)) - torch_unit(made["ViT-B-32"][0])).max() > 1e-4


def test_coca_is_normalised_once_and_reads_its_text_token(hub: Path) -> None:
    import open_clip

    weights = repository(hub, "laion/CoCa-ViT-L-14-laion2B-s13B-b90k") / "open_clip_pytorch_model.bin"
    model, _, transform = open_clip.create_model_and_transforms("coca_ViT-L-14", pretrained=str(weights))
    tokens = open_clip.get_tokenizer("coca_ViT-L-14")(TEXTS)
    assert tokens.shape == (3, 76)
    output = model.eval()(stacked(transform)[:3], tokens)
    encoder = open_encoder("CoCa-Large")
    np.testing.assert_allclose(encoder.encode_images(pictures(3)), torch_unit(output["image_features"]), atol=2e-5)
    np.testing.assert_allclose(encoder.encode_texts(TEXTS)[0], torch_unit(output["text_features"]), atol=2e-5)


def test_a_training_checkpoint_loses_the_prefix_of_its_wrapper(hub: Path) -> None:
    import open_clip
    import torch

    file = repository(hub, "BIOMEDICA/BMC_CLIP_CF") / "BMC_CLIP_CF.pt"
    weights = torch.load(file, weights_only=True)["state_dict"]
    assert all(name.startswith("module.") for name in weights)
    model = open_clip.CLIP(**open_clip.get_model_config("ViT-L-14"))
    model.load_state_dict({name.removeprefix("module."): value for name, value in weights.items()})
    transform = open_clip.image_transform(32, is_train=False)
    encoder = open_encoder("BMC-CLIP")
    agree(encoder, model.encode_image(stacked(transform)), model.encode_text(open_clip.tokenize(TEXTS)))
    same = open_encoder(f"open_clip:ViT-L-14/{file}")
    assert same.identity["model"] == "open_clip:ViT-L-14/BMC_CLIP_CF.pt"
    np.testing.assert_array_equal(same.encode_texts(TEXTS)[0], encoder.encode_texts(TEXTS)[0])


@pytest.mark.parametrize(("name", "repo"), [("BiomedCLIP", BIOMED_CLIP), ("OpenCLIP-Huge", HUGE)])
def test_repositories_of_open_clip_are_what_open_clip_computes(
    name: str, repo: str, hub: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import open_clip
    from huggingface_hub import constants

    encoder = open_encoder(name)
    # Without a folder to look in, the library knows the usual cache only.
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(hub))
    model, transform = open_clip.create_model_from_pretrained(f"hf-hub:{repo}")
    tokens = open_clip.get_tokenizer(f"hf-hub:{repo}")(TEXTS)
    model.eval()
    agree(encoder, model.encode_image(stacked(transform)), model.encode_text(tokens))
    assert open_encoder(name).key == encoder.key


def test_pubmed_clip_is_what_the_whole_model_computes(hub: Path) -> None:
    import transformers

    folder = repository(hub, PUBMED_CLIP)
    model = transformers.CLIPModel.from_pretrained(folder).eval()
    processor = transformers.CLIPImageProcessorPil.from_pretrained(folder)
    tokens = transformers.CLIPTokenizer.from_pretrained(folder)(TEXTS, padding=True, return_tensors="pt")
    pixels = processor([picture.convert("RGB") for picture in pictures(4)], return_tensors="pt")
    output = model(**tokens, **pixels)
    agree(open_encoder("PubMedCLIP"), output.image_embeds, output.text_embeds)


def test_pmc_clip_is_read_as_it_was_trained(hub: Path) -> None:
    import torch
    from open_clip.modified_resnet import ModifiedResNet
    from open_clip.transform import image_transform
    from transformers import BertConfig, BertModel

    image_weights, text_weights, projection = (
        torch.load(repository(hub, "axiong/pmc_oa", "dataset") / file, weights_only=True)
        for file in tiny_encoders.PMC_FILES
    )
    bert = BertModel(BertConfig.from_pretrained(repository(hub, f"{BERT}-fulltext"))).eval()
    del text_weights["embeddings.position_ids"]
    bert.load_state_dict(text_weights)
    encoder = open_encoder("PMC-CLIP")
    # By hand: [CLS] and [SEP] around, and zeros up to 77 places that BERT is not told to pass over.
    words = (repository(hub, f"{BERT}-fulltext") / "vocab.txt").read_text().split("\n")
    text = "the chest radiograph shows no effusion"
    row = [words.index(word) for word in ("[CLS]", *text.split(), "[SEP]")]
    ids = torch.tensor([row + [0] * (77 - len(row))])
    state = bert(input_ids=ids)
    vectors = encoder.encode_texts([text])[0]
    np.testing.assert_allclose(vectors, torch_unit(state.last_hidden_state[:, 0] @ projection), atol=2e-5)
    masked = bert(input_ids=ids, attention_mask=(ids != 0).long()).last_hidden_state[:, 0] @ projection
    assert np.abs(vectors - torch_unit(masked)).max() > 1e-3

    tower = ModifiedResNet(layers=[1, 2, 1, 1], output_dim=24, heads=8 * 32 // 64, image_size=64, width=8).eval()
    tower.load_state_dict(image_weights)
    expected = torch_unit(tower(stacked(image_transform(64, is_train=False))))
    np.testing.assert_allclose(encoder.encode_images(pictures(4)), expected, atol=2e-5)


def test_files_are_found_by_the_environment_alone(hub: Path) -> None:
    """HF_HUB_OFFLINE and HF_HUB_CACHE in a new process, without the seconds that it takes to import torch."""
    code = (
        "from loaders.models.encoders_hub import Repository\n"
        f"there = Repository('PubMedCLIP', {PUBMED_CLIP!r})\n"
        "print(there.file('pytorch_model.bin'), there.folder(['config.json']), sep='\\n')\n"
    )
    folder = repository(hub, PUBMED_CLIP)
    said = printed("-c", code, HF_HUB_OFFLINE="1", HF_HUB_CACHE=str(hub))
    assert said.split() == [str(folder / "pytorch_model.bin"), str(folder)]


@pytest.mark.long
def test_the_environment_alone_is_enough(hub: Path) -> None:
    """Whole encoders by it: the same keys as here, where it was set from inside."""
    code = (
        "from loaders.models.encoders import open_encoder\n"
        "for name in ('PubMedCLIP', 'BiomedCLIP', 'random:tiny'):\n"
        "    print(open_encoder(name).key)\n"
    )
    said = printed("-c", code, HF_HUB_OFFLINE="1", HF_HUB_CACHE=str(hub), CUDA_VISIBLE_DEVICES="")
    keys = [open_encoder(name, device="cpu").key for name in ("PubMedCLIP", "BiomedCLIP", "random:tiny")]
    assert said.split() == keys


@pytest.mark.parametrize("repo", [PUBMED_CLIP, BIOMED_CLIP])
def test_a_local_folder_is_as_good(repo: str, hub: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(repository(hub, repo), tmp_path / "mine"))
    if repo == BIOMED_CLIP:  # its text tower's configuration is another repository's, the tokenizer must be in it
        with pytest.raises(ModelError, match=f"the folder has no tokenizer .* hf download {BERT} "):
            open_encoder(str(folder))
        shutil.copy(repository(hub, BERT) / "vocab.txt", folder)
        settings = {"do_lower_case": True, "tokenizer_class": "BertTokenizer"}
        (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    encoder = open_encoder(str(folder))
    prefix = "hf" if repo == PUBMED_CLIP else "hf-hub"
    from_hub = open_encoder(f"{prefix}:{repo}")
    np.testing.assert_array_equal(encoder.encode_texts(TEXTS)[0], from_hub.encode_texts(TEXTS)[0])
    np.testing.assert_array_equal(encoder.encode_images(pictures(2)), from_hub.encode_images(pictures(2)))
    assert encoder.identity["model"] == "local:mine"
    moved = Path(shutil.move(folder, tmp_path / "elsewhere" / "mine"))
    assert open_encoder(str(moved)).key == encoder.key


def test_siglip_in_shards(hub: Path, tmp_path: Path) -> None:
    """Another family of transformers, whose texts must be padded to the full length, in several weight files."""
    import torch
    from transformers import CLIPTokenizer, SiglipConfig, SiglipModel

    folder = tmp_path / "siglip"
    tower = {"hidden_size": 24, "intermediate_size": 48, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = SiglipConfig(
        text_config={**tower, "vocab_size": 600, "max_position_embeddings": 16},
        vision_config={**tower, "image_size": 32, "patch_size": 16},
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        model = SiglipModel(config).eval()
    model.save_pretrained(folder, max_shard_size="40KB")
    assert len(list(folder.glob("*.safetensors"))) > 1
    for file in ("vocab.json", "merges.txt"):
        shutil.copy(repository(hub, PUBMED_CLIP) / file, folder)
    settings = {"tokenizer_class": "CLIPTokenizer", "model_max_length": 16, "model_input_names": ["input_ids"]}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    settings = {"image_processor_type": "SiglipImageProcessor", "size": {"height": 32, "width": 32}}
    (folder / "preprocessor_config.json").write_text(json.dumps(settings))
    encoder = open_encoder(str(folder))
    assert (encoder.dim, encoder.context_length) == (24, 16)
    vectors, truncated = encoder.encode_texts(["chest", " ".join(["chest"] * 15)])
    assert truncated == [False, True]
    assert encoder.encode_images(pictures(2)).shape == vectors.shape == (2, 24)
    tokenizer = CLIPTokenizer.from_pretrained(folder)
    full, bare = (
        torch_unit(model.get_text_features(**tokenizer(["chest"], return_tensors="pt", **padding)).pooler_output)
        for padding in ({"padding": "max_length", "max_length": 16}, {})
    )
    np.testing.assert_allclose(encoder.encode_texts(["chest"])[0], full, atol=2e-5)
    assert np.abs(full - bare).max() > 1e-3
    # Every shard counts.
    last = sorted(folder.glob("*.safetensors"))[-1]
    from safetensors.torch import load_file, save_file

    save_file({name: value + 1 for name, value in load_file(last).items()}, last, metadata={"format": "pt"})
    assert open_encoder(str(folder)).identity["weights"] != encoder.identity["weights"]


def siglip(folder: Path, naflex: bool = False, **tokenizer: Any) -> Path:
    """A folder of a tiny SigLIP 2 as Google publishes them: the tokenizer is Gemma's, which keeps capitals."""
    import torch
    import transformers
    from tokenizers import Tokenizer, models, normalizers, processors

    tower = {"hidden_size": 24, "intermediate_size": 48, "num_hidden_layers": 1, "num_attention_heads": 2}
    family, size = ("Siglip2", {"num_patches": 16}) if naflex else ("Siglip", {"image_size": 32})
    config = getattr(transformers, f"{family}Config")(
        text_config={**tower, "vocab_size": 80, "max_position_embeddings": 16},
        vision_config={**tower, **size, "patch_size": 16},
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        getattr(transformers, f"{family}Model")(config).save_pretrained(folder)
    signs = ["<pad>", "<eos>", "<bos>", "<unk>", "<mask>", "▁", *map(chr, range(65, 91)), *map(chr, range(97, 123))]
    letters = Tokenizer(models.BPE({sign: at for at, sign in enumerate(signs)}, [], unk_token="<unk>"))
    letters.normalizer = normalizers.Replace(" ", "▁")
    letters.post_processor = processors.TemplateProcessing(single="$A <eos>", special_tokens=[("<eos>", 1)])
    letters.save(str(folder / "tokenizer.json"))
    settings = {"tokenizer_class": "GemmaTokenizer", "padding_side": "right", "model_input_names": ["input_ids"]}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings | tokenizer))
    size = {"patch_size": 16, "max_num_patches": 16} if naflex else {"size": {"height": 32, "width": 32}}
    settings = {"image_processor_type": f"{family}ImageProcessor", **size}
    (folder / "preprocessor_config.json").write_text(json.dumps(settings))
    return folder


@pytest.mark.parametrize("naflex", [False, True])
def test_siglip_2_reads_lower_case_and_pictures_in_their_own_shape(naflex: bool, offline: None, tmp_path: Path) -> None:
    import torch
    import transformers

    folder = siglip(tmp_path / "siglip2", naflex)
    encoder = open_encoder(str(folder))
    vectors, _ = encoder.encode_texts(["Chest", "chest"])
    np.testing.assert_array_equal(vectors[0], vectors[1])
    model = transformers.AutoModel.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    processor = transformers.AutoImageProcessor.from_pretrained(folder, backend="pil")
    text = tokenizer(["chest"], padding="max_length", max_length=16, return_tensors="pt")
    wide = pictures(1)[0].resize((96, 32))
    with torch.inference_mode():
        texts = model.get_text_features(**text).pooler_output
        images = model.get_image_features(**processor(images=wide, return_tensors="pt")).pooler_output
    np.testing.assert_allclose(vectors[:1], torch_unit(texts), atol=2e-5)
    both = encoder.encode_images([wide, pictures(1)[0]])
    np.testing.assert_allclose(both[:1], torch_unit(images), atol=2e-5)


def test_a_model_that_cannot_encode_is_refused_before_anything_is_encoded(hub: Path, own_hub: Path) -> None:
    path = repository(own_hub, PUBMED_CLIP) / "preprocessor_config.json"
    settings = json.loads(path.read_bytes()) | {"crop_size": {"height": 48, "width": 48}}
    path.write_text(json.dumps(settings))
    with pytest.raises(ModelError, match="cannot be loaded: .*48"):
        open_encoder("PubMedCLIP")


@pytest.mark.parametrize("part", ["config.json", "preprocessor_config.json", "tokenizer_config.json"])
def test_code_of_a_repository_is_neither_run_nor_asked_about(
    part: str, offline: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = siglip(tmp_path / "own")
    there = {"AutoConfig": "own.Own", "AutoModel": "own.Own", "AutoImageProcessor": "own.Own"}
    kinds = {"model_type": "own", "image_processor_type": "Own", "tokenizer_class": "Own"}
    settings = json.loads((folder / part).read_bytes())
    settings |= {name: value for name, value in kinds.items() if name in settings} | {
        "auto_map": there | {"AutoTokenizer": ["own.Own", None]}
    }
    (folder / part).write_text(json.dumps(settings))
    (folder / "own.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    asked: list[str] = []
    monkeypatch.setattr("builtins.input", lambda text="": asked.append(text) or "y")
    with pytest.raises(ModelError, match="cannot be loaded") as caught:
        open_encoder(str(folder))
    assert not asked and not (tmp_path / "ran").exists()
    assert "--embeddings NAME=PLACE" in caught.value.do


@pytest.mark.parametrize("name", PAPER_MODELS)
def test_without_weights_the_error_says_what_where_and_how(name: str, offline: None, tmp_path: Path) -> None:
    with pytest.raises(ModelError) as caught:
        open_encoder(name)
    error = caught.value
    repo = {
        "OpenAI-CLIP-Base": "timm/vit_base_patch32_clip_224.openai",
        "CoCa-Large": "laion/CoCa-ViT-L-14-laion2B-s13B-b90k",
        "LAION-2B": "laion/CLIP-ViT-B-32-laion2B-s34B-b79K",
        "OpenCLIP-Huge": HUGE,
        "PubMedCLIP": PUBMED_CLIP,
        "BMC-CLIP": "BIOMEDICA/BMC_CLIP_CF",
        "PMC-CLIP": "axiong/pmc_oa",
        "BiomedCLIP": BIOMED_CLIP,
    }[name]
    kind = "datasets" if repo == "axiong/pmc_oa" else "models"
    assert error.where == name
    assert f"of {repo} is not on this machine" in error.found
    assert error.expected == f"in {tmp_path / kind}--{repo.replace('/', '--')}"
    assert f"hf download {repo}" in error.do
    assert "HF_HUB_OFFLINE" in error.do


@pytest.mark.parametrize(
    ("name", "repo", "kind", "file"),
    [
        ("OpenAI-CLIP-Base", "timm/vit_base_patch32_clip_224.openai", "model", "open_clip_model.safetensors"),
        ("OpenCLIP-Huge", HUGE, "model", "open_clip_model.safetensors"),
        ("BiomedCLIP", BIOMED_CLIP, "model", "open_clip_pytorch_model.bin"),
        ("BiomedCLIP", BERT, "model", "config.json"),
        ("BiomedCLIP", BERT, "model", "vocab.txt"),
        ("PubMedCLIP", PUBMED_CLIP, "model", "pytorch_model.bin"),
        ("PubMedCLIP", PUBMED_CLIP, "model", "preprocessor_config.json"),
        ("PMC-CLIP", "axiong/pmc_oa", "dataset", "text_projection_layer.pth"),
        ("PMC-CLIP", f"{BERT}-fulltext", "model", "vocab.txt"),
    ],
)
def test_a_single_missing_file_is_found_out(name: str, repo: str, kind: str, file: str, own_hub: Path) -> None:
    (repository(own_hub, repo, kind) / file).unlink()
    with pytest.raises(ModelError, match=r"is not on this machine") as caught:
        open_encoder(name)
    assert f"of {repo}" in caught.value.found


def test_a_file_that_the_repository_itself_lacks_is_not_to_be_fetched(
    own_hub: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from huggingface_hub.errors import EntryNotFoundError

    (repository(own_hub, PUBMED_CLIP) / "preprocessor_config.json").unlink()

    def absent(repo: str, name: str, repo_type: str) -> str:
        raise EntryNotFoundError(f"404: {repo} {name} {repo_type}")

    monkeypatch.setattr("loaders.models.encoders_hub.hf_hub_download", absent)
    with pytest.raises(ModelError, match=r"has no preprocessor_config\.json") as caught:
        open_encoder("PubMedCLIP")
    assert "hf download" not in str(caught.value)
    for kind, other in (("hf", "hf-hub"), ("hf-hub", "hf")):  # what the repository is instead
        (repository(own_hub, PUBMED_CLIP) / "config.json").unlink(missing_ok=True)
        with pytest.raises(ModelError, match=f"of the other kind: {other}:{PUBMED_CLIP}"):
            open_encoder(f"{kind}:{PUBMED_CLIP}")


@pytest.mark.parametrize(
    ("name", "repo", "kind", "file"),
    [
        ("LAION-2B", "laion/CLIP-ViT-B-32-laion2B-s34B-b79K", "model", "open_clip_pytorch_model.bin"),
        ("OpenCLIP-Huge", HUGE, "model", "open_clip_model.safetensors"),
        ("OpenCLIP-Huge", HUGE, "model", "open_clip_config.json"),
        ("BiomedCLIP", BERT, "model", "config.json"),
        ("PubMedCLIP", PUBMED_CLIP, "model", "pytorch_model.bin"),
        ("PubMedCLIP", PUBMED_CLIP, "model", "vocab.json"),
        ("PMC-CLIP", "axiong/pmc_oa", "dataset", "image_encoder(resnet50).pth"),
    ],
)
def test_a_damaged_file_is_one_clear_error(name: str, repo: str, kind: str, file: str, own_hub: Path) -> None:
    path = repository(own_hub, repo, kind) / file
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(ModelError, match="cannot be loaded") as caught:
        open_encoder(name)
    assert caught.value.do


def test_weights_that_lack_a_part_are_not_filled_up_at_random(own_hub: Path) -> None:
    import torch

    path = repository(own_hub, PUBMED_CLIP) / "pytorch_model.bin"
    weights = torch.load(path, weights_only=True)
    del weights["text_projection.weight"]
    torch.save(weights, path)
    with pytest.raises(ModelError, match=r"lack 1 tensor of its architecture, such as text_projection\.weight"):
        open_encoder("PubMedCLIP")


def test_a_wrong_end_token_is_an_error(own_hub: Path) -> None:
    path = repository(own_hub, PUBMED_CLIP) / "config.json"
    config = json.loads(path.read_bytes())
    config["text_config"]["eos_token_id"] = 7
    path.write_text(json.dumps(config))
    with pytest.raises(ModelError, match="ends texts with token 7"):
        open_encoder("PubMedCLIP")


def test_a_model_of_texts_alone_is_refused(hub: Path, tmp_path: Path) -> None:
    from transformers import BertConfig, BertModel

    folder = repository(hub, BERT)
    BertModel(BertConfig.from_pretrained(folder)).save_pretrained(tmp_path)
    shutil.copy(folder / "vocab.txt", tmp_path)
    with pytest.raises(ModelError, match=r"has no preprocessor_config\.json"):
        open_encoder(str(tmp_path))
    shutil.copy(repository(hub, PUBMED_CLIP) / "preprocessor_config.json", tmp_path)
    with pytest.raises(ModelError, match="BertModel is not an encoder of both images and texts"):
        open_encoder(str(tmp_path))


def test_an_activation_that_the_weights_were_not_trained_with_is_an_error(offline: None) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ModelError, match="computes GELU, but openai was trained with QuickGELU") as caught:
            open_encoder("open_clip:ViT-B-32/openai")
        assert caught.value.do == "Use open_clip:ViT-B-32-quickgelu/openai"
        with pytest.raises(ModelError, match="Use open_clip:ViT-B-16-quickgelu/dfn2b"):
            open_encoder("open_clip:ViT-B-16/dfn2b")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("", "is not the name of an encoder"),
        ("BiomedCILP", "did you mean BiomedCLIP"),
        ("hf:", "is not the name of an encoder"),
        ("mine.npy", "is a file of embeddings"),
        ("open_clip:ViT-B-3/openai", "no architecture 'ViT-B-3' (expected ViT-B-32"),
        ("open_clip:ViT-B-32/laion3b", "no weights 'laion3b' for ViT-B-32 (expected openai"),
        ("open_clip:ViT-B-32", "no weights '' for ViT-B-32"),
        ("open_clip:hf-hub:a/b", "has no architecture"),
        ("hf-hub:not a repository", "is not on this machine"),
        ("hf:nobody/nothing", "is not on this machine"),
        ("pmc-clip:mine", "is not the name of an encoder"),
        ("random:huge", "is not the name of an encoder"),
    ],
)
def test_a_wrong_name_is_one_clear_error(name: str, said: str, offline: None, tmp_path: Path) -> None:
    with pytest.raises(ModelError) as caught:
        open_encoder(name)
    assert said in str(caught.value)


def test_the_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(ModelError) as caught:
        open_encoder("CLIP")
    assert all(name in caught.value.expected for name in PAPER_MODELS)


def test_precision_and_device_must_exist(offline: None) -> None:
    with pytest.raises(InputError, match="'int8'"):
        open_encoder("random:tiny", precision="int8")
    import torch

    here = " or ".join(["cpu", *(f"cuda:{at}" for at in range(torch.cuda.device_count()))])
    # Each fails in torch in a way of its own; "meta" only once numbers are read back.
    for device in ("", "gpu", "cuda:99", "vulkan", "hpu", "meta"):
        with pytest.raises(InputError, match=f"'{device}' cannot be used") as caught:
            open_encoder("random:tiny", device=device)
        assert caught.value.expected.startswith(here) and "aten::" not in caught.value.found
        assert len(caught.value.found) < 120


@pytest.mark.parametrize(
    ("module", "adapter", "name"),
    [
        ("torch", "torch", "random:tiny"),
        ("open_clip", "openclip", "random:tiny"),
        ("transformers", "transformers", "PubMedCLIP"),
    ],
)
def test_a_missing_package_names_the_extra(
    module: str, adapter: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if module != "torch":
        pytest.importorskip("torch")
    monkeypatch.delitem(sys.modules, f"loaders.models.encoders_{adapter}", raising=False)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra) as caught:
        open_encoder(name)
    assert caught.value.where == module
    assert "[models]" in caught.value.do


def test_random_weights_are_always_the_same(hub: Path) -> None:
    import torch

    torch.manual_seed(11)
    state = torch.get_rng_state()
    first, again = (open_encoder("random:tiny") for _ in range(2))
    assert torch.equal(torch.get_rng_state(), state)
    assert first.stand_in and first.key == again.key
    np.testing.assert_array_equal(first.encode_images(pictures(3)), again.encode_images(pictures(3)))


def test_grey_pictures_are_their_rgb_and_others_are_refused(hub: Path) -> None:
    grey = pictures(2)[1]
    for name in ("random:tiny", "PubMedCLIP"):
        encoder = open_encoder(name)
        np.testing.assert_array_equal(encoder.encode_images([grey]), encoder.encode_images([grey.convert("RGB")]))
        with pytest.raises(InputError, match="mode RGBA"):
            encoder.encode_images([Image.new("RGBA", (8, 8))])


def test_low_precision_is_near_and_has_another_key(hub: Path) -> None:
    for name in ("OpenAI-CLIP-Base", "PMC-CLIP"):
        exact, low = (open_encoder(name, precision=precision) for precision in ("fp32", "bf16"))
        difference = np.abs(exact.encode_images(pictures(3)) - low.encode_images(pictures(3))).max()
        assert 0 < difference < 0.05
        assert low.encode_texts(TEXTS)[0].dtype == np.float32
        assert exact.key != low.key


def test_the_key_changes_with_all_that_changes_an_embedding(own_hub: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    def key(name: str = "PubMedCLIP") -> str:
        return open_encoder(name).key

    folder = repository(own_hub, PUBMED_CLIP)
    keys = [key()]
    assert key() == keys[0]

    weights = torch.load(folder / "pytorch_model.bin", weights_only=True)
    weights["text_projection.weight"] += 1
    torch.save(weights, folder / "pytorch_model.bin")
    keys.append(key())

    transform = json.loads((folder / "preprocessor_config.json").read_bytes())
    (folder / "preprocessor_config.json").write_text(json.dumps({**transform, "resample": 2}))
    keys.append(key())

    merges = (folder / "merges.txt").read_text().splitlines()
    (folder / "merges.txt").write_text("\n".join(merges[:-1]) + "\n")
    keys.append(key())

    config = json.loads((folder / "config.json").read_bytes())
    config["vision_config"]["hidden_act"] = "gelu"
    (folder / "config.json").write_text(json.dumps(config))
    keys.append(key())

    folder.rename(folder.with_name("f" * 40))
    (folder.parent.parent / "refs" / "main").write_text("f" * 40)
    keys.append(key())

    monkeypatch.setattr(
        "loaders.models.encoders_torch.version", lambda name: "0.1" if name == "pillow" else version(name)
    )
    keys.append(key())
    assert len(set(keys)) == len(keys) == 7

    # A text tower that is configured in another repository counts as well.
    before = key("BiomedCLIP")
    bert = repository(own_hub, BERT) / "config.json"
    bert.write_text(json.dumps({**json.loads(bert.read_bytes()), "hidden_act": "relu"}))
    assert key("BiomedCLIP") != before


def test_a_batch_too_large_for_the_device_is_one_clear_error(offline: None, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    encoder: Any = open_encoder("random:tiny")

    def full(batch: Any) -> Any:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")

    monkeypatch.setattr(encoder, "_towers", encoder._towers.__class__(full, full, encoder._towers.tokens, full))
    with pytest.raises(ModelError, match=r"is too small for a batch of 3\)?.*smaller batch"):
        encoder.encode_texts(TEXTS)


def write(path: Path, values: Any, **others: Any) -> Path:
    if path.suffix == ".npy":
        np.save(path, values)
    else:
        save_file = pytest.importorskip("safetensors.numpy").save_file
        save_file({"images": np.asarray(values), **others}, path)
    return path


@pytest.mark.parametrize("suffix", [".npy", ".safetensors"])
@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_embeddings_of_ones_own_become_unit_vectors(suffix: str, kind: type, tmp_path: Path) -> None:
    path = write(tmp_path / f"mine{suffix}", np.array([[3, 4], [0, -2], [1e-3, 0]], dtype=kind))
    vectors = read_embeddings(path, rows=3, dim=2)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, np.array([[0.6, 0.8], [0, -1], [1, 0]]), atol=1e-6)


def test_a_tensor_is_chosen_by_its_name(tmp_path: Path) -> None:
    path = write(tmp_path / "both.safetensors", np.eye(2, dtype=np.float32), texts=-np.eye(2, dtype=np.float32))
    path = path.rename(tmp_path / os.fsdecode(b"caf\xe9.safetensors"))
    np.testing.assert_array_equal(read_embeddings(path, rows=2, tensor="texts"), -np.eye(2))
    with pytest.raises(InputError, match="holds the tensors images, texts"):
        read_embeddings(path, rows=2)
    with pytest.raises(InputError, match=r"holds the tensors images, texts \(expected captions\)"):
        read_embeddings(path, rows=2, tensor="captions")


@pytest.mark.parametrize("suffix", [".npy", ".safetensors"])
@pytest.mark.parametrize(
    ("values", "said"),
    [
        (np.ones((2, 4), np.float32), "holds 2 rows of 4 dimensions"),
        (np.ones((3, 5), np.float32), "holds 3 rows of 5 dimensions"),
        (np.ones((3, 0), np.float32), "3 rows of 0 dimensions"),
        (
            np.array([[1] * 4, [1, np.nan, 1, 1], [1, np.inf, 1, 1]], np.float32),
            "rows that are not finite: 2, the first is",
        ),
        (np.array([[1.0] * 4, [1, 1e300, 1, 1], [1] * 4]), "rows that are not finite: 1, the first is row 1"),
        (np.array([[1] * 4, [1] * 4, [0] * 4], np.float32), "rows that are all zero: 1, the first is row 2"),
        (np.ones((3, 4), np.int64), "holds int64 values"),
        (np.ones(3, np.float32), "of shape (3,)"),
        (np.ones((3, 4, 1), np.float32), "of shape (3, 4, 1)"),
    ],
)
def test_unfit_embeddings_are_one_clear_error(suffix: str, values: Any, said: str, tmp_path: Path) -> None:
    path = write(tmp_path / f"mine{suffix}", values)
    with pytest.raises(InputError) as caught:
        read_embeddings(path, rows=3, dim=4)
    assert said in str(caught.value)
    assert str(path) in str(caught.value)


def test_files_that_hold_no_embeddings(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        read_embeddings(tmp_path / "none.npy", rows=1)
    (tmp_path / "table.csv").write_text("1,2")
    with pytest.raises(InputError, match="is a .csv file"):
        read_embeddings(tmp_path / "table.csv", rows=1)
    (tmp_path / "torn.npy").write_bytes(b"\x93NUMPY\x01")
    with pytest.raises(InputError, match="cannot be read as .npy"):
        read_embeddings(tmp_path / "torn.npy", rows=1)
    np.save(tmp_path / "objects.npy", np.array([{"a": 1}], dtype=object))
    with pytest.raises(InputError, match="cannot be read as .npy"):
        read_embeddings(tmp_path / "objects.npy", rows=1)
    pytest.importorskip("safetensors")
    (tmp_path / "torn.safetensors").write_bytes(b"\x08\0\0\0\0\0\0\0{")
    with pytest.raises(InputError, match="cannot be read as .safetensors"):
        read_embeddings(tmp_path / "torn.safetensors", rows=1)


def test_bfloat16_is_refused_with_advice(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    save_file = pytest.importorskip("safetensors.torch").save_file
    save_file({"images": torch.ones(2, 4, dtype=torch.bfloat16)}, tmp_path / "low.safetensors")
    with pytest.raises(InputError, match="Save it again with safetensors, as float32"):
        read_embeddings(tmp_path / "low.safetensors", rows=2)


def test_an_index_of_weights_names_files_beside_it_only(tmp_path: Path) -> None:
    from loaders.models.encoders_transformers import _shards

    index = tmp_path / "model.safetensors.index.json"
    index.write_text('{"weight_map": {"a": "b-1.safetensors", "c": "b-1.safetensors"}}')
    assert _shards(index) == ["b-1.safetensors"]
    for said in (
        "[]",
        "{}",
        '{"weight_map": {"a": 1}}',
        '{"weight_map": {"a": "../private.safetensors"}}',
        "[" * 9_000,
    ):
        index.write_text(said)
        with pytest.raises(InputError, match="index"):
            _shards(index)


@pytest.mark.parametrize("header", [b"{'descr': ", b"'" * 3, b"{" * 300, b"\xff"])
def test_a_header_of_an_array_that_is_no_python(header: bytes, tmp_path: Path) -> None:
    path = tmp_path / "images.npy"
    path.write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
    with pytest.raises(InputError, match="cannot be read as .npy"):
        read_embeddings(path, rows=1)


def test_unusable_settings_of_a_sentence_encoder(tmp_path: Path) -> None:
    for said in ('{"model_type": "bert", "hidden_size": "wide"}', '{"model_type": []}', "[]"):
        (tmp_path / "config.json").write_text(said)
        with pytest.raises(ModelError, match="cannot be opened"):
            open_sentence_encoder(str(tmp_path))


def test_a_sentence_encoder_with_a_layer_that_is_not_run_is_refused(tmp_path: Path) -> None:
    """LaBSE and others go on with a dense layer: without it their vectors are others, and nothing would show it."""
    pytest.importorskip("transformers")
    from loaders.models.sentences import _pooling

    (tmp_path / "1_Pooling").mkdir()
    (tmp_path / "1_Pooling" / "config.json").write_text('{"pooling_mode_cls_token": true}')
    for kinds, found in ((["Transformer", "Pooling", "Normalize"], ""), (["Transformer", "Pooling", "Dense"], "Dense")):
        told = [{"idx": 0, "type": f"sentence_transformers.models.{kind}"} for kind in kinds]
        (tmp_path / "modules.json").write_text(json.dumps(told))
        if found:
            with pytest.raises(InputError, match=f"ends with {found}"):
                _pooling(str(tmp_path), None)
        else:
            assert _pooling(str(tmp_path), None) == "cls"


def test_a_tower_without_end_is_refused(tmp_path: Path) -> None:
    config = {"embed_dim": 8, "vision_cfg": {}, "text_cfg": {"layers": 10**18}}
    (tmp_path / "open_clip_config.json").write_text(json.dumps({"model_cfg": config}))
    (tmp_path / "open_clip_model.safetensors").write_bytes(b"x")
    with pytest.raises(ModelError, match="a tower of 1e\\+18 layers"):
        open_encoder(str(tmp_path), device="cpu")
