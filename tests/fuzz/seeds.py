"""Small files of every kind that somebody else writes, each sound as it stands."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import torch
from safetensors.numpy import save_file

from baselines.medlaybench_v.embedding_cache import EmbeddingCache
from baselines.threemdbench.classifier.weights import write_tensors
from builders.curation.index import Index
from builders.medconceal.profiles import MIN_CONCERNS
from builders.medconceal.sources import open_source
from builders.samples.medconceal import threads
from builders.samples.medconceal.cases import profiles
from loaders.models.answers import AnswerStore
from tests.parts.pictures import drawn, jpeg

CAPTIONS = (
    "Axial CT shows a 3 cm hepatic abscess in the right lobe, without ascites.",
    "Chest radiograph: left pleural effusion; no pneumothorax.",
    "MRI of the brain demonstrates no edema after 2 weeks.",
)
_MPLUS = (
    "<?xml version='1.0' encoding='UTF-8'?>\n<health-topics total='1'>\n<health-topic title='Broken bones' id='7' "
    "language='English'><also-called>Fractures</also-called><full-summary>A &lt;p&gt;bone.</full-summary>"
    "<mesh-heading><descriptor id='D1'>Fractures, Bone</descriptor></mesh-heading></health-topic>\n</health-topics>\n"
)
_ROBOTS = "User-agent: *\nCrawl-delay: 2\nDisallow: /private\nAllow: /\nSitemap: http://x/y\n"


def table(path: Path, *rows: Mapping[str, Any], delimiter: str = ",") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)


def _json(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value), encoding="utf-8")


def _lines(path: Path, *rows: Any) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def captions(folder: Path) -> None:
    """A table of captions in each of its formats."""
    rows = [
        {"id": f"p{at}", "caption": text, "cuis": "C0040405;C0000833", "split": "train", "licence": "CC0-1.0"}
        for at, text in enumerate(CAPTIONS)
    ]
    table(folder / "captions.csv", *rows)
    table(folder / "captions.tsv", *rows, delimiter="\t")
    _json(folder / "captions.json", rows)
    _lines(folder / "captions.jsonl", *rows)
    _json(folder / "captions.yaml", rows)
    photo = {"bytes": jpeg(drawn(3, (40, 30))), "path": "p.jpg"}
    listed = [{**row, "cuis": row["cuis"].split(";"), "image": photo} for row in rows]
    pq.write_table(pa.Table.from_pylist(listed), folder / "captions.parquet")
    words = (("abscess", "pus pocket"), ("effusion", "fluid"), ("edema", "swelling"))
    table(
        folder / "vocabulary.csv",
        *({"expert": expert, "lay": lay, "kind": "finding", "pos": "noun"} for expert, lay in words),
    )


def patients(folder: Path) -> None:
    """Two cases in both formats."""
    written = open_source("sample", synthetic=None, seed=0, workspace=folder)
    rows = [_short(row) for row in list(getattr(written, "rows", ()))[:2]]
    _json(folder / "cases.json", rows)
    _lines(folder / "cases.jsonl", *rows)


def fill(folder: Path) -> None:
    """All the others."""
    _photo_tables(folder)
    _vocabularies(folder)
    _dumps(folder)
    _models(folder)
    _images(folder)
    _json(folder / "statement.yaml", {"collection": "Asked, and agreed.", "sensitive": "Ages."})
    _json(folder / "mapping.yaml", {"age": "Age", "sex": "Demographics.Sex", "name": None})
    patient = profiles()[0].case_id
    turns = [{"clinician": "What worries you?", "patient": "The cost."}]
    encounter = {"case": patient, "participant": "P1", "encounter": "E1", "task": "confirmation", "turns": turns}
    _lines(folder / "transcripts.jsonl", encounter, {**encounter, "encounter": "E2", "stopped": "withdrawn"})
    (folder / "robots.txt").write_text(_ROBOTS, encoding="utf-8")
    for place in (folder / "answers.sqlite", folder / "index.sqlite"):
        with AnswerStore(place) if place.stem == "answers" else Index(place) as store:
            if isinstance(store, Index):
                store.put("x", "key", "value")
    _json(folder / "answer.json", {"category": "cost", "description": "x", "score": 0.5, "list": [1, 2]})


def _photo_tables(folder: Path) -> None:
    digest = "0123456789abcdef" * 2
    photos = [{"file": f"p{at}.jpg", "label": "stye", "licence": "CC0-1.0", "group": at, "md5": ""} for at in range(3)]
    table(folder / "photos.csv", *photos)
    _lines(folder / "photos.jsonl", *photos)
    table(folder / "web.csv", {"url": "http://127.0.0.1:9/a.jpg", "label": "stye", "md5": digest})
    table(folder / "isic" / "metadata.csv", *({"isic_id": f"p{n}", "dx": "mel", "lesion_id": "l"} for n in range(3)))
    table(folder / "isic" / "one_hot.tsv", {"image": "p0", "MEL": "1.0", "NV": "0.0"}, delimiter="\t")
    table(folder / "scin" / "scin_cases.csv", *({"case_id": f"c{n}", "image_1_path": f"p{n}.png"} for n in range(3)))
    weights = "{'Eczema': 0.7, 'Acne': 0.3}"
    table(
        folder / "scin" / "scin_labels.csv",
        *({"case_id": f"c{n}", "weighted_skin_condition_label": weights} for n in range(3)),
    )
    fitzpatrick = {"md5hash": digest, "label": "acne", "url": "http://127.0.0.1:9/a.jpg", "qc": ""}
    table(folder / "fitz" / "fitzpatrick17k.csv", fitzpatrick)
    table(folder / "labels.csv", {"label": "Stye", "diagnosis": "stye", "match": "exact", "note": "x"})
    table(folder / "prevalence.csv", {"diagnosis": "stye", "share": "0.5"}, {"diagnosis": "acne", "share": "0.5"})
    decided = {"image_id": "x", "decision": "reject", "reason": "copy", "content": "0" * 64}
    table(folder / "decisions.csv", decided, decided | {"image_id": "y", "decision": "accept", "reason": ""})
    cases = {"case_id": "x", "decision": "reject", "reason": "other", "content": "0" * 64}
    table(folder / "plausibility.csv", cases)
    for at in range(2):
        place = folder / "classes" / ("stye", "acne")[at] / f"{at}.jpg"
        place.parent.mkdir(parents=True)
        place.write_bytes(jpeg(drawn(at, (40, 30))))


def _vocabularies(folder: Path) -> None:
    (folder / "topics.xml").write_text(_MPLUS, encoding="utf-8")
    with zipfile.ZipFile(folder / "topics.zip", "w") as archive:
        archive.writestr("topics.xml", _MPLUS)
    (folder / "META").mkdir()
    atoms = (("MEDLINEPLUS", "PT", "Water on the lung"), ("MSH", "PN", "Pleural effusion"))
    rows = [f"C0032227|ENG|P|L1|PF|S1|Y|A1||M1|D1|{source}|{kind}|D1|{text}|0|N|256|\n" for source, kind, text in atoms]
    (folder / "META" / "MRCONSO.RRF").write_text("".join(rows), encoding="utf-8")
    (folder / "META" / "MRSTY.RRF").write_text("C0032227|T047|B2|Disease|AT1|256|\n", encoding="utf-8")
    place = folder / "roco" / "train" / "radiology"
    place.mkdir(parents=True)
    for name, said in (
        ("captions.txt", CAPTIONS),
        ("cuis.txt", ("C0040405", "C0000833\tC0040405", "C0000833")),
        ("licences.txt", ("PMC1\tROCO_0.jpg\thttp://x\tCC BY",) * 3),
    ):
        lines = (f"ROCO_{at}\t{text}\n" for at, text in enumerate(said))
        (place / name).write_text("".join(lines), encoding="utf-8")


def _dumps(folder: Path) -> None:
    import backports.zstd as zstd

    place = folder / "dump"
    place.mkdir()
    for name, said in (("submissions", threads.submissions()), ("comments", threads.comments())):
        data = "".join(f"{line}\n" for line in list(said)[:12]).encode()
        (place / f"{name}.jsonl").write_bytes(data)
    packed = folder / "packed"
    packed.mkdir()
    for path in place.iterdir():
        (packed / f"{path.stem}.zst").write_bytes(zstd.compress(path.read_bytes()))


def _short(case: Any) -> Any:
    """A case with as few concerns and topics as may be: each text is looked through for what names somebody."""
    hidden = case["hidden"]
    concerns = [one | {"topics": one["topics"][:1]} for one in hidden["hidden_concerns"][:MIN_CONCERNS]]
    return case | {"hidden": hidden | {"hidden_concerns": concerns, "primary_concern": 0}}


def _models(folder: Path) -> None:
    vectors = np.eye(3, 4, dtype=np.float32)
    np.save(folder / "vectors.npy", vectors)
    save_file({"images": vectors, "texts": vectors}, folder / "vectors.safetensors")
    write_tensors(folder / "tensors.safetensors", {"w": torch.zeros(2, 2)}, {"epoch": 1, "classes": ["a"]})
    cache = EmbeddingCache(folder / "embeddings", 4)
    cache.describe(b"{}")
    with cache.writer("texts", 0) as writer:
        writer([bytes(32), b"\1" * 32], vectors[:2], [False, True])
    clip = folder / "open-clip"
    clip.mkdir()
    seen = {"image_size": 16, "patch_size": 8, "width": 16, "head_width": 8, "layers": 1}
    read = {"context_length": 8, "vocab_size": 49408, "width": 8, "heads": 1, "layers": 1}
    small = {"embed_dim": 8, "vision_cfg": seen, "text_cfg": read}
    _json(clip / "open_clip_config.json", {"model_cfg": small})
    save_file({"w": vectors}, clip / "open_clip_model.safetensors")
    towers = folder / "hf-model"
    towers.mkdir()
    _json(towers / "config.json", {"model_type": "clip", "projection_dim": 8})
    _json(towers / "model.safetensors.index.json", {"weight_map": {"w": "model-1.safetensors"}})
    save_file({"w": vectors}, towers / "model-1.safetensors")
    _json(towers / "preprocessor_config.json", {"size": 8})
    _json(towers / "tokenizer_config.json", {})
    sentences = folder / "sentences"
    (sentences / "1_Pooling").mkdir(parents=True)
    _json(sentences / "config.json", {"model_type": "bert", "hidden_size": 8})
    _json(sentences / "1_Pooling" / "config.json", {"pooling_mode_mean_tokens": True})
    pipeline = folder / "pipeline"
    pipeline.mkdir()
    (pipeline / "config.cfg").write_text('[nlp]\nlang = "en"\npipeline = []\n', encoding="utf-8")
    _json(pipeline / "meta.json", {"lang": "en", "name": "x"})
    with zipfile.ZipFile(folder / "pack.zip", "w") as archive:
        for name in ("cdb.dat", "vocab.dat", "model_card.json"):
            archive.writestr(f"pack/{name}", "{}")


def _images(folder: Path) -> None:
    picture = drawn(4, (60, 40))
    place = folder / "images"
    place.mkdir()
    for suffix in ("jpg", "png", "gif", "bmp", "tiff", "webp", "jp2", "avif"):
        made = io.BytesIO()
        try:
            picture.convert("RGB").save(made, {"jpg": "JPEG", "jp2": "JPEG2000"}.get(suffix, suffix.upper()))
        except (KeyError, OSError):
            continue
        (place / f"x.{suffix}").write_bytes(made.getvalue())
    exif = picture.convert("RGB").getexif()
    exif[274], exif[315] = 6, "somebody"
    picture.convert("RGB").save(place / "exif.jpg", exif=exif)
    picture.convert("P").save(place / "palette.png")
    picture.convert("I").save(place / "deep.tif")
