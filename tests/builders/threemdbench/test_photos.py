"""A build from real photos: labels mapped where that is true, the rest excluded and counted, no leak across splits."""

from __future__ import annotations

import csv
import shutil
from collections import defaultdict
from pathlib import Path

import pytest

from builders.curation.review import NAME, read_queue
from builders.release.verify import verify
from builders.threemdbench import recipe
from loaders.files.cells import plain_label
from loaders.manifest import Manifest
from scripts.cli import execute
from tests.builders.threemdbench.test_recipe import reasons, rows_of
from tests.parts.places import shared_data

# What the labels of the photos mean. An inflamed throat is not always one with inflamed tonsils.
LABELS = """label,diagnosis,match,note
pharyngitis tonsillitis,tonsillitis,mixed,inflamed throats with and without the tonsils
throat no pharyngitis,,,no finding
hand and nails,,,nails without a disease of the nail
chickenpox,chickenpox,exact,
herpes,herpes,exact,
eczema,eczema,exact,
papular urticaria,,,a reaction to insect bites
measles,,,
scabies,,,
lice,,,
"""
LICENCES = {
    "throat_yoo2020": "CC BY 4.0",
    "nails_yakimov2024": "CC BY 4.0",
    "chickenpox_cdc": "public domain",
    "bettercare_verbatim_ND": "CC BY-NC-ND 4.0",
}


def lay_out(folder: Path, *, every: int) -> list[str]:
    """The photos of the manifest as sources of a build, of each group every so-many-th; options of the command."""
    manifest = shared_data("photos_manifest.csv")
    groups: dict[str, list[dict[str, str]]] = defaultdict(list)
    with manifest.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            groups[row["group"]].append(row)
    ham = groups["ham10000_roboflow640"][::every]
    (folder / "ham" / "images").mkdir(parents=True)
    for row in ham:
        shutil.copy(manifest.parent / row["file"], folder / "ham" / "images")
    names = {Path(row["file"]).stem for row in ham}
    lines = shared_data("tables/HAM10000_metadata.csv").read_text(encoding="utf-8").splitlines()
    kept = [lines[0], *(line for line in lines if line.split(",")[1] in names)]
    (folder / "ham" / "HAM10000_metadata.csv").write_text("\n".join(kept) + "\n", encoding="utf-8")
    options = ["--source", f"ham10000={folder / 'ham'}"]
    (folder / "labels.csv").write_text(LABELS, encoding="utf-8")
    for group, licence in LICENCES.items():
        name = group.partition("_")[0]
        (folder / name).mkdir()
        with (folder / name / "photos.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["file", "label", "licence"])
            for row in groups[group][:: every if len(groups[group]) > 10 else 1]:
                shutil.copy(manifest.parent / row["file"], folder / name)
                writer.writerow([Path(row["file"]).name, row["label"], licence])
        options += ["--source", f"table:{name}={folder / name / 'photos.csv'}"]
        options += ["--labels", f"{name}={folder / 'labels.csv'}"]
    return options


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("real")
    options = [*lay_out(folder, every=8), "--mixed-labels", "--workers", "1"]
    assert execute(["build", "3mdbench", *options, "--out", str(folder / "release")]) == 0
    return folder / "release"


def test_labels_are_mapped_where_that_is_true_and_the_rest_is_counted(release: Path) -> None:
    rows, excluded = rows_of(release), reasons(release)
    assert {row["diagnosis"] for row in rows} == {
        "tonsillitis",
        "chickenpox",
        "actinic keratosis",
        "seborrheic keratosis",
    }
    assert {(row["diagnosis"], row["source"]) for row in rows if row["source"] != "ham10000"} == {
        ("tonsillitis", "throat"),
        ("chickenpox", "chickenpox"),
    }
    # Of seven photos under a licence that forbids changes, three are of one of the 34 diagnoses.
    assert excluded["admit: no derivatives"] == 3
    assert excluded["admit: not one of the 34 diagnoses"] >= 4 + 251 // 8 + 215 // 8
    assert len(rows) + sum(excluded.values()) == Manifest.read(release).stages[0].rows_in
    assert {row["licence"] for row in rows} == {"CC BY 4.0", "public domain", "CC-BY-NC-4.0"}


def test_no_cluster_and_no_lesion_crosses_a_split(release: Path) -> None:
    assert execute(["verify", str(release)]) == 0
    assert verify(release, row_check=recipe.check_row, measure=recipe.measure) == []
    splits: dict[str, set[str]] = defaultdict(set)
    for row in rows_of(release):
        for column in ("group_id", "cluster_id"):
            if row[column]:
                splits[f"{column} {row[column]}"].add(row["split"])
    assert any(name.startswith("group_id ham10000:HAM_") for name in splits)
    assert all(len(found) == 1 for found in splits.values())


def test_photos_of_mixed_classes_wait_for_a_person(release: Path) -> None:
    queue = read_queue(release.with_name("release.work") / NAME)
    mixed = [row for row in rows_of(release) if row["source"] in ("ham10000", "throat")]
    asked = {item.picture.key for item in queue if item.kept}
    # A folder of one's own releases no label; this one has a single class that is mixed.
    labels = {(row["source"], plain_label(row["source_label"] or "pharyngitis tonsillitis")) for row in mixed}
    assert mixed and {f"class of {source}: {label}" for source, label in labels} <= asked
