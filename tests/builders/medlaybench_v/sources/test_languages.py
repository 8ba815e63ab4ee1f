"""Captions in English, and those that only look as if they were."""

from __future__ import annotations

import csv

import pytest

from builders.medlaybench_v.sources.languages import is_english
from tests.parts.places import shared_data

ENGLISH = [
    "Le Fort I osteotomy.",
    "Le Fort II fracture.",
    "Méniere disease",
    "Hand-Schüller-Christian disease.",
    "L'Hermitte sign. MRI.",
    "CTA chest.",
    "Postoperative OPG (case 5)",
    "Carcinoma of the rectum, en bloc resection in situ.",
    "Sjögren disease with Ménière attacks, naïve to treatment",
    "Sjögren syndrome, parotid MRI.",
    "Peau d'orange sign. Café-au-lait spots.",
    "Os odontoideum; os trigonum; rete mirabile",
    "Vena cava inferior (VCI), arteria mesenterica superior",
    "Mass on MRI (courtesy of Dr. André Dupont, Hôpital de la Croix du Sud et des Alpes, Genève)",
    "Oblique view of a unique technique",
    # What a credit names is no evidence, nor a place's name, nor a word that English shares.
    "Sagittal CT, right wrist (courtesy: Hôpital de la Croix du Sud et des Alpes)",
    "Osteoma, Los Angeles.",
    "Malleolus med., osteoma.",
    "X",
    "Axial.",
    "Coronal Rx",
]
OTHERS = [
    "Échographie rénale",
    "Kyste hépatique",
    "Le poumon gauche.",
    "IRM cérébrale, coupe axiale en T2",
    "Scanner thoracique sans injection objectivant une masse",
    "Fracture de l'humérus gauche",
    "Thorax-Röntgenaufnahme mit Erguss rechts",
    "Ecografía abdominal con lesión en el hígado",
    "Radiografia do tórax após drenagem",
    "TC della testa: lesione nel lobo destro",
    "TC de abdomen sin contraste.",
    "RM lombar sagital T2",
    "Kniegelenk seitlich",
    "RX torace.",
    "IRM du genou",
    "Éventration.",
    "TC TORACE",
    "Scan del torace",
    "Scan d'aorte, l'estomac",
    "MR van het bekken met een tumor",
    "RTG klatki piersiowej, strony lewej oraz obraz guza",
    "RM cerebral, corte axial T2.",
    "MRT der Wirbelsäule",
    "Echografie van de lever",
    "Ortopantomografia",
]


@pytest.mark.parametrize("caption", ENGLISH)
def test_english(caption: str) -> None:
    assert is_english(caption)


@pytest.mark.parametrize("caption", OTHERS)
def test_another_language(caption: str) -> None:
    assert not is_english(caption)


def test_real_captions() -> None:
    """137 of 8,179 were read one by one: one is English, with the title of an old French book in it."""
    with shared_data("text/roco_test.csv").open(encoding="utf-8", newline="") as file:
        foreign = [row["caption"] for row in csv.DictReader(file) if not is_english(row["caption"])]
    assert 125 <= len(foreign) <= 145
    assert "Radiographie thoracique normale" in foreign
