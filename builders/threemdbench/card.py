"""What the card of 3MDBench says in addition to what every card says."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, cast

from pydantic import JsonValue

from builders.chat import Chat
from builders.recipe import licence_facts
from builders.release.cards import markdown_table
from builders.threemdbench.complaints import BY_MODEL
from builders.threemdbench.labels import BY_NAME
from builders.threemdbench.measure import PAPER
from builders.threemdbench.sources import DRAWN, OWN, PUBLISHED, PhotoSource
from loaders.manifest import Manifest, order_splits
from loaders.threemdbench import DIAGNOSES


def card(
    manifest: Manifest,
    origins: Sequence[tuple[str, str]],
    sources: Sequence[PhotoSource],
    mapped: Collection[str],
    chat: Chat | None,
) -> dict[str, JsonValue]:
    """The facts that the template needs; `origins` are name and origin of each source, `mapped` the names of those
    whose labels a table of the maintainer maps."""
    statistics = cast(dict[str, Any], manifest.statistics)
    by_model = any(name in BY_MODEL for name in statistics["complaints_status"])
    return {
        **licence_facts(statistics["licence"], "photos", "each one's"),
        **_provenance(origins),
        "annotators": "machine-generated" if by_model else "other",
        "method": _method(manifest, chat, by_model),
        "sizes": _sizes(manifest),
        "classes": _classes(manifest),
        "drawing": _drawing(manifest),
        "labels": _labels(sources, mapped, mixed=manifest.settings["mixed_labels"] is True),
        "review": _review(manifest),
        "usage": _usage(manifest),
        "private": _private(manifest),
        "paper_test": f"{PAPER['test photos']:,}",
    }


def _provenance(origins: Sequence[tuple[str, str]]) -> dict[str, JsonValue]:
    """Where the photos come from and whom they show, as far as that is known for each kind of source."""
    names = {kind: ", ".join(f"`{name}`" for name, origin in origins if origin == kind) for kind in (PUBLISHED, OWN)}
    published, own, drawn = names[PUBLISHED], names[OWN], any(origin == DRAWN for _, origin in origins)
    bodies = "Photos of bodies, mostly skin, mouths, eyes and nails; faces that a source shows are not blurred."
    return {
        "collection": _those(
            (drawn, "Photos that were drawn for this project; nobody was photographed."),
            (
                published,
                f"Photos that others published with a diagnosis ({published}); none was taken for this corpus.",
            ),
            (
                own,
                f"Photos of the maintainer's own ({own}): how they were taken, who diagnosed, and whether those whom "
                "they show agreed, is not stated by the maintainer.",
            ),
        ),
        "biases": _those(
            (drawn, "Drawings show what their author thought of, no range of skin, camera and setting."),
            (published, f"Light skin is over-represented in most published sources ({published})."),
            (own, f"Whom the maintainer's own photos show ({own}), and whom not, is not stated."),
            (
                published or own,
                "Camera, setting and country may differ by source, and a model may learn the source instead of the "
                "condition.",
            ),
        ),
        "sensitive": bodies if published or own else "None: the photos are drawings, and nobody is shown.",
    }


def _those(*sentences: tuple[object, str]) -> str:
    """The sentences that are true."""
    return " ".join(sentence for true, sentence in sentences if true)


def _usage(manifest: Manifest) -> str:
    """A line of Python that loads each split."""
    load = 'load_dataset(repository, split="{0}", revision=version)'
    what = {"test": "photos with what their patients say"}
    splits = order_splits(manifest.configs[0].splits) if manifest.configs else []
    return "\n".join(f"{split} = {load.format(split)}  # {what.get(split, 'photos and diagnoses')}" for split in splits)


def _private(manifest: Manifest) -> str:
    """Which splits are not in this release."""
    planned = order_splits(cast(dict[str, float], manifest.settings["ratios"]))
    away = [split for split in planned if split not in manifest.splits]
    if not away:
        return ""
    return f"Not in this release: {' and '.join(away)}. Who built it may hold them in another, private one."


def _classes(manifest: Manifest) -> list[JsonValue]:
    """A line for each diagnosis: its photos by split, and how far it falls short of the target."""
    counts = cast(dict[str, Any], manifest.statistics)["diagnosis_by_split"]
    targets = cast(dict[str, int] | None, manifest.settings["targets"])
    floor = cast(int, manifest.settings["floor"])
    lines: list[JsonValue] = []
    for diagnosis in DIAGNOSES:
        here = counts[diagnosis.name]
        lacking = max(0, floor - here["test"]) if "test" in here else None
        line: dict[str, JsonValue] = {"diagnosis": diagnosis.name, "domain": diagnosis.domain, **here}
        if targets is not None and len(here) == len(cast(dict[str, float], manifest.settings["ratios"])):
            line |= {
                "wanted": targets[diagnosis.name],
                "short by": max(0, targets[diagnosis.name] - sum(here.values())),
            }
        elif lacking is not None:
            line[f"short of {floor} in test by"] = lacking
        lines.append(line)
    return lines


def _sizes(manifest: Manifest) -> str:
    """The sizes beside the paper's, of the splits that are here; those of classes are about test."""
    against = cast(dict[str, Any], manifest.statistics)["against_paper"]
    split_of = {f"{split} photos": split for split in cast(dict[str, float], manifest.settings["ratios"])}
    here = [[name, *row.values()] for name, row in against.items() if split_of.get(name, "test") in manifest.splits]
    head = "against paper" if len(here) == len(against) else "of these splits"
    return markdown_table([head, *against["test photos"]], here)


def _drawing(manifest: Manifest) -> str:
    total = manifest.settings["total"]
    below = cast(dict[str, Any], manifest.statistics)["below_floor"]
    short = f" Classes with fewer than 64 photos in the test split: {below} of 34." * ("test" in manifest.splits)
    if total is None:
        return f"Every photo that passed curation was kept; no prevalence was imposed.{short}"
    return (
        f"{total:,} photos were shared out over the classes by a prevalence table, with a floor of "
        f"{manifest.settings['floor']} in the test split; a class that has fewer gives all it has, and what it lacks "
        f"is not made up by others. A second photo of a patient was drawn only where every patient had one.{short}"
    )


def _labels(sources: Sequence[PhotoSource], mapped: Collection[str], *, mixed: bool) -> str:
    """What says which diagnosis a label means, and what became of labels that mean more than one."""
    by: dict[str, list[str]] = {}
    for source in sources:
        named = (
            "Names and synonyms of the diagnoses" if source.labels is BY_NAME else "Tables that ship with the builder"
        )
        own = "Tables of the maintainers' own, which nobody else has reviewed,"
        by.setdefault(own if source.facts.name in mapped else named, []).append(f"`{source.facts.name}`")
    whose = ("the sources" if len(by) == 1 else ", ".join(names) for names in by.values())
    return " ".join(
        [
            *(f"{what} map the labels of {names} to the 34 diagnoses." for what, names in zip(by, whose, strict=True)),
            *["Classes that also cover other conditions are included, each as one diagnosis."] * mixed,
            f"A photo whose labels disagree{', mix conditions' * (not mixed)} or name something else is left out.",
        ]
    )


def _review(manifest: Manifest) -> str:
    counted = cast(dict[str, int] | None, manifest.settings["decisions"])
    if counted is None:
        return "No clinician has reviewed the photos or their labels for this release."
    return (
        f"A person looked at borderline photos and mixed classes: {counted['accepted']:,} were accepted and "
        f"{counted['rejected']:,} rejected, as the file says whose digest the manifest holds; nobody "
        "reviewed the others."
    )


def _method(manifest: Manifest, chat: Chat | None, by_model: bool) -> str:
    if "test" not in manifest.splits:
        return "Only photos of the test split come with complaints, and none of them is in this release."
    if chat is None:
        return (
            "No model was used: the complaints were written by hand, one basic complaint and some ten further ones for "
            "each diagnosis, of which each case draws eight. They were not written from the photos and may not fit "
            "them, and no clinician has reviewed them."
        )
    if not by_model:
        return (
            f"`{chat.model.name}` was asked for the complaints, but no answer about a photo came that passed the "
            "checks: complaints written by hand stand in, which were not written from the photos."
        )
    return (
        f"`{chat.model.name}` wrote one basic complaint per diagnosis, and the additional complaints of each photo "
        "with the photo before it. An answer that failed a check was sent back with the failed checks named, twice at "
        "most; then, or where the model gave no answer, complaints written by hand stood in, which were not written "
        "from the photo."
    )
