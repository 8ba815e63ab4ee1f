"""BERTScore on tiny random weights against the package; LENS, RaTEScore and GREEN by what their packages are asked."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from baselines.medlaybench_v import learned_metrics
from baselines.medlaybench_v.learned_metrics import (
    BERTSCORE_MODEL,
    METRICS,
    BertScore,
    Scores,
    green,
    lens,
    local_weights,
    model_used,
    ratescore,
)
from baselines.results.run import ModelUsed
from loaders.errors import MissingExtra, ModelError
from tests.parts.tiny_encoders import COMMIT, repository

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

WORDS = "ct scan of the chest shows a large mass in lung left right no arrow . , s".split()
HYPOTHESES = ["ct of the chest shows a mass", "large mass .", "no scan", "left lung , right lung"]
REFERENCES = [
    "scan of the lung shows a large mass in the chest .",
    "a mass",
    "the arrow shows",
    "left lung , right lung",
]


@pytest.fixture
def cached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """An empty Hub cache; the function makes the snapshot folder of a model in it."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    return partial(repository, tmp_path)


def _save_tokenizer(folder: Path, greatest_length: int | None) -> int:
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import BertPreTokenizer
    from tokenizers.processors import TemplateProcessing

    vocabulary = {word: place for place, word in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *WORDS])}
    tokenizer = Tokenizer(WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = BertPreTokenizer()
    tokenizer.post_processor = TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    marks = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **marks)
    if greatest_length is not None:
        fast.model_max_length = greatest_length
    fast.save_pretrained(folder)
    return len(vocabulary)


def _save_encoder(folder: Path, kind: str, greatest_length: int | None = 32) -> None:
    torch.manual_seed(7)
    sizes: dict[str, Any] = {
        "vocab_size": _save_tokenizer(folder, greatest_length),
        "hidden_size": 16,
        "num_hidden_layers": 3,
        "num_attention_heads": 2,
        "intermediate_size": 32,
        "max_position_embeddings": 32,
        "initializer_range": 0.6,  # large, so that texts differ clearly
    }
    if kind == "bert":
        model = transformers.BertModel(transformers.BertConfig(**sizes))
    else:
        model = transformers.DebertaModel(
            transformers.DebertaConfig(
                **sizes,
                relative_attention=True,
                position_biased_input=False,
                pos_att_type=["c2p", "p2c"],
                type_vocab_size=0,
            )
        )
    model.save_pretrained(folder)


@pytest.fixture(scope="module")
def encoders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("encoders")
    for kind in ("bert", "deberta"):
        _save_encoder(folder / kind, kind)
    return folder


# ------------------------------------------------------------------------------------------------------- BERTScore


@pytest.mark.parametrize("kind", ["bert", "deberta"])
@pytest.mark.parametrize("layers", [1, 2, 3])
def test_bertscore_equals_the_package(kind: str, layers: int, encoders: Path) -> None:
    package = pytest.importorskip("bert_score")
    ours = BertScore(str(encoders / kind), layers=layers)(HYPOTHESES, REFERENCES)
    # One pair a call: in a batch the package lets padding take part in a match.
    theirs = [
        100 * package.score([hypothesis], [reference], model_type=str(encoders / kind), num_layers=layers)[2]
        for hypothesis, reference in zip(HYPOTHESES, REFERENCES, strict=True)
    ]
    np.testing.assert_allclose(ours, np.array([float(value) for value in theirs]), atol=2e-4)
    assert ours[3] == pytest.approx(100, abs=1e-3)
    assert len(set(ours.round(2))) == 4


def test_bertscore_does_not_depend_on_the_batch(encoders: Path) -> None:
    score = BertScore(str(encoders / "deberta"), layers=2)
    together = score(HYPOTHESES, REFERENCES)
    np.testing.assert_allclose(together, score(HYPOTHESES, REFERENCES, batch_size=1), atol=2e-4)
    np.testing.assert_array_equal(together, score(HYPOTHESES, REFERENCES))


def test_bertscore_without_a_greatest_length_reads_up_to_the_models(tmp_path: Path) -> None:
    # The published model's tokenizer states none, and the package fails on it.
    _save_encoder(tmp_path, "bert", greatest_length=None)
    long = " ".join(["lung"] * 100)
    assert BertScore(str(tmp_path), layers=2)([long, "a mass"], [long, "a mass"]) == pytest.approx(100)


def test_bertscore_of_an_empty_text_is_zero(encoders: Path) -> None:
    score = BertScore(str(encoders / "bert"), layers=2)
    np.testing.assert_array_equal(score(["", "a mass", " "], ["a mass", "", ""]), np.zeros(3))
    assert score([], []).shape == (0,)


def test_bertscore_refuses_what_it_cannot_use(encoders: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot be loaded"):
        BertScore(str(tmp_path))
    half = Path(shutil.copytree(encoders / "bert", tmp_path / "half"))
    (half / "model.safetensors").write_bytes((half / "model.safetensors").read_bytes()[:-100])
    with pytest.raises(ModelError, match=r"cannot be loaded: SafetensorError.* To repair: hf download"):
        BertScore(str(half), layers=1)


def test_bertscore_by_name_uses_the_cache_and_names_its_commit(
    cached: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    _save_encoder(cached(BERTSCORE_MODEL), "deberta")
    monkeypatch.setattr(BertScore.__init__, "__kwdefaults__", {"layers": 2, "device": "cpu"})
    scores = learned_metrics.bertscore(HYPOTHESES, REFERENCES)
    assert scores.models == (ModelUsed("BERTScore, layer 2", "microsoft/deberta-xlarge-mnli", COMMIT),)
    assert scores.versions["transformers"] == transformers.__version__
    assert scores.values[3] == pytest.approx(100, abs=1e-3)


# -------------------------------------------------------------------------------------- what is not on this machine


def test_missing_weights_are_an_error_that_says_how_to_get_them(cached: Callable[[str], Path], tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"its weights are not on this machine. To get them: hf download some/model"):
        local_weights("some/model")
    folder = cached("some/model")
    assert local_weights("some/model") == folder
    assert local_weights(str(folder)) == folder
    assert model_used("encoder", "some/model", folder) == ModelUsed("encoder", "some/model", COMMIT)
    assert model_used("encoder", str(tmp_path), tmp_path) == ModelUsed("encoder", tmp_path.name)
    with pytest.raises(ModelError, match="not on this machine"):
        local_weights("not a name of a model")


@pytest.mark.parametrize(
    ("metric", "module", "said"),
    [
        ("BERTScore", "torch", r"\[models\]"),
        ("LENS", "lens", "is not installed.*for LENS.*--no-deps lens-metric"),
        ("RaTEScore", "radeval.metrics.RaTEScore.scorer", "is not installed.*for RaTEScore.*pip install radeval"),
        ("GREEN", "radeval.metrics.green_score.green", "is not installed.*for GREEN.*pip install radeval"),
    ],
)
def test_a_missing_package_is_named(
    metric: str, module: str, said: str, monkeypatch: pytest.MonkeyPatch, cached: Callable[[str], Path]
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    cached(BERTSCORE_MODEL)  # whose weights are looked for before torch, which takes seconds to import
    with pytest.raises(MissingExtra, match=said):
        METRICS[metric](HYPOTHESES, REFERENCES)


@pytest.mark.parametrize("metric", ["LENS", "RaTEScore", "GREEN"])
def test_a_package_without_its_weights_is_an_error(
    metric: str, cached: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("lens", "radeval.metrics.RaTEScore.scorer", "radeval.metrics.green_score.green"):
        monkeypatch.setitem(sys.modules, module, ModuleType(module))
    with pytest.raises(ModelError, match=r"not on this machine. To get them: hf download"):
        METRICS[metric](HYPOTHESES, REFERENCES)


# ------------------------------------------------------------------ what the packages are asked, by their interfaces


def _install(monkeypatch: pytest.MonkeyPatch, module: str, **names: Any) -> None:
    made = ModuleType(module)
    made.__dict__.update(names)
    monkeypatch.setitem(sys.modules, module, made)
    monkeypatch.setattr(learned_metrics, "installed_versions", lambda *packages: dict.fromkeys(packages, "9"))


def test_lens_compares_the_lay_text_with_the_expert_text_as_source_and_reference(
    cached: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: dict[str, Any] = {}

    class Lens:  # lens-metric 0.2.0
        def __init__(self, path: str, rescale: bool = False) -> None:
            asked.update(path=path, rescale=rescale)
            self.model = SimpleNamespace(encoder=SimpleNamespace(model=SimpleNamespace(pooler=None)))

        def score(
            self,
            complex: list[str],
            simplified: list[str],
            references: list[list[str]],
            batch_size: int = 16,
            devices: list[int] | None = None,
        ) -> list[float]:
            asked.update(complex=complex, simplified=simplified, references=references)
            return [50.0 + place for place in range(len(complex))]

    _install(monkeypatch, "lens", LENS=Lens)
    folder = cached(learned_metrics.LENS_MODEL)
    with pytest.raises(ModelError, match=r"no model\.ckpt in it"):
        lens(HYPOTHESES, REFERENCES)
    (folder / "checkpoints").mkdir()
    (folder / "checkpoints" / "model.ckpt").write_bytes(b"")
    (folder / "hparams.yaml").write_text("pretrained_model: roberta-large\n")
    with pytest.raises(ModelError, match="hf download roberta-large"):
        lens(HYPOTHESES, REFERENCES)
    cached("roberta-large")
    scores = lens(HYPOTHESES, REFERENCES)
    assert scores.values.tolist() == [50, 51, 52, 53]
    assert [(model.name, model.revision) for model in scores.models] == [
        ("davidheineman/lens", COMMIT),
        ("roberta-large", COMMIT),
    ]
    assert scores.versions["lens-metric"] == "9"
    assert asked == {
        "path": str(folder / "checkpoints" / "model.ckpt"),
        "rescale": True,
        "complex": REFERENCES,
        "simplified": HYPOTHESES,
        "references": [[reference] for reference in REFERENCES],
    }


def _install_ratescore(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    asked: list[tuple[str, str]] = []

    class RaTEScore:  # radeval 2.2
        def __init__(self, bert_model: str, eval_model: str) -> None:
            assert Path(bert_model).is_dir()
            assert Path(eval_model).is_dir()

        def compute_score(self, candidate_list: list[str], reference_list: list[str]) -> tuple[list[float], Any, Any]:
            pairs = list(zip(candidate_list, reference_list, strict=True))
            asked.extend(pairs)
            # As the package has it: a text of fewer than three characters drops out.
            return [0.5 for pair in pairs if min(map(len, pair)) > 2], [], []

    _install(monkeypatch, "radeval.metrics.RaTEScore.scorer", RaTEScore=RaTEScore)
    return asked


def test_ratescore_takes_the_expert_text_as_reference(
    cached: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = _install_ratescore(monkeypatch)
    for model in learned_metrics.RATESCORE_MODELS:
        cached(model)
    scores = ratescore(HYPOTHESES, REFERENCES)
    assert scores.values.tolist() == [50] * 4
    assert asked == list(zip(HYPOTHESES, REFERENCES, strict=True))
    assert [model.name for model in scores.models] == ["Angelakeke/RaTE-NER-Deberta", "FremyCompany/BioLORD-2023-C"]
    with pytest.raises(ModelError, match="finds no sentence in 'CT'"):
        ratescore(["CT", "a lung"], ["a mass", "a lung"])


def _install_green(monkeypatch: pytest.MonkeyPatch, values: list[float | None]) -> dict[str, Any]:
    asked: dict[str, Any] = {}

    class Green:  # radeval 2.2
        def __init__(self, model_name: str, output_dir: str = ".") -> None:
            asked.update(model=model_name)

        def __call__(self, refs: list[str], hyps: list[str]) -> tuple[float, float, list[float | None], Any]:
            asked.update(refs=refs, hyps=hyps)
            return 0.0, 0.0, values, None

    _install(monkeypatch, "radeval.metrics.green_score.green", GREEN=Green)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    return asked


def test_green_takes_the_expert_text_as_reference(
    cached: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = _install_green(monkeypatch, [0, 0.25, 0.5, 1])
    folder = cached(learned_metrics.GREEN_MODEL)
    scores = green(HYPOTHESES, REFERENCES)
    assert scores.values.tolist() == [0, 25, 50, 100]
    assert asked == {"model": str(folder), "refs": REFERENCES, "hyps": HYPOTHESES}


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([0.5, None, 0.5, 0.5], "no analysis of pair 1"),
        ([0.5, 0.5], r"\(2,\) values.*expected 4 finite"),
        ([0.5, 0.5, 0.5, float("nan")], "1 of them not finite"),
    ],
)
def test_an_incomplete_answer_is_never_averaged(
    values: list[float | None], message: str, cached: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    _install_green(monkeypatch, values)
    cached(learned_metrics.GREEN_MODEL)
    with pytest.raises(ModelError, match=message):
        green(HYPOTHESES, REFERENCES)


def test_green_needs_a_gpu(cached: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    _install_green(monkeypatch, [])
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    cached(learned_metrics.GREEN_MODEL)
    with pytest.raises(ModelError, match="no GPU"):
        green(HYPOTHESES, REFERENCES)


def test_weights_that_do_not_load_are_an_error(cached: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: object, **options: object) -> None:
        raise RuntimeError("bad magic number")

    _install_green(monkeypatch, [])
    _install(monkeypatch, "radeval.metrics.green_score.green", GREEN=broken)
    cached(learned_metrics.GREEN_MODEL)
    with pytest.raises(ModelError, match="cannot be loaded: RuntimeError: bad magic number"):
        green(HYPOTHESES, REFERENCES)


# ------------------------------------------------------------- the packages themselves, where they are installed


def test_lens_itself_on_tiny_weights(cached: Callable[[str], Path]) -> None:
    models = pytest.importorskip("lens.models.regression_metric_multi_ref")
    base = cached("roberta-large")
    size = _save_tokenizer(base, 32)
    shape: dict[str, Any] = {"num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    config = transformers.RobertaConfig(vocab_size=size, hidden_size=16, pad_token_id=0, **shape)
    transformers.RobertaModel(config).save_pretrained(base)
    settings = {"encoder_model": "RoBERTa", "pretrained_model": str(base), "hidden_sizes": [8]}
    module = models.RegressionMetricMultiReference(**settings)
    folder = cached(learned_metrics.LENS_MODEL)
    (folder / "checkpoints").mkdir()
    state = {"state_dict": module.state_dict(), "pytorch-lightning_version": "2.0.9", "hyper_parameters": settings}
    torch.save(state, folder / "checkpoints" / "model.ckpt")
    text = json.dumps(settings | {"class_identifier": "regression_metric_multi_ref"})
    (folder / "hparams.yaml").write_text(text)
    scores = lens(HYPOTHESES, REFERENCES)
    assert isinstance(scores, Scores)
    assert ((scores.values > 0) & (scores.values < 100)).all()
    np.testing.assert_array_equal(scores.values, lens(HYPOTHESES, REFERENCES).values)


def test_ratescore_itself_on_tiny_weights(cached: Callable[[str], Path]) -> None:
    pytest.importorskip("radeval")
    kinds = ("ABNORMALITY", "NON-ABNORMALITY", "DISEASE", "NON-DISEASE", "ANATOMY")
    labels = dict(enumerate(["O", *(f"{mark}-{kind}" for kind in kinds for mark in "BI")]))
    entities, synonyms = (cached(model) for model in learned_metrics.RATESCORE_MODELS)
    torch.manual_seed(1)
    for folder, kind in ((entities, transformers.BertForTokenClassification), (synonyms, transformers.BertModel)):
        size = _save_tokenizer(folder, 512)
        shape: dict[str, Any] = {"num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
        config = transformers.BertConfig(
            vocab_size=size, hidden_size=16, initializer_range=0.6, id2label=labels, **shape
        )
        kind(config).save_pretrained(folder)
    scores = ratescore(HYPOTHESES, REFERENCES)
    assert ((scores.values >= 0) & (scores.values <= 100.001)).all()
    assert scores.values[3] == pytest.approx(100, abs=0.01)
    with pytest.raises(ModelError, match="finds no sentence"):
        ratescore(["CT"], ["a mass"])
