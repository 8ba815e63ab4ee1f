"""Each source as its publisher lays it out, the real tables, and folders and tables in bad shape."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from builders.threemdbench.download import Downloads
from builders.threemdbench.gather import Admission, gather
from builders.threemdbench.labels import assign
from builders.threemdbench.own import Nameless
from builders.threemdbench.sources import Photo, open_source
from loaders.errors import InputError
from loaders.files.bad_rows import BadRow
from tests.parts.photo_server import picture
from tests.parts.places import shared_data
from tests.parts.rows import strictly


def place(folder: Path, *names: str) -> Path:
    for number, name in enumerate(names):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(picture(number))
    return folder


def table(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def photos(text: str, **options: Path) -> list[Photo]:
    return strictly(open_source(text, **options).photos())


def verdicts(text: str) -> dict[str, str]:
    """What becomes of each photo by its labels alone: its diagnosis or the reason why it has none."""
    source = open_source(text)
    found = {}
    for photo in strictly(source.photos()):
        assigned = assign(photo.labels, source.labels)
        found[photo.file] = photo.problem or assigned.diagnosis or assigned.problem.partition(": ")[0]
    return found


def test_a_licence_is_vouched_for_only_where_none_is_stated(tmp_path: Path) -> None:
    text = "file,label,licence\nx/a.jpg,warts,CC BY-ND 4.0\nx/b.jpg,warts,\n"
    source = open_source(f"table:mine={table(place(tmp_path, 'x/a.jpg', 'x/b.jpg'), 'photos.csv', text)}")
    downloads = Downloads(tmp_path / "downloads")
    for vouched, second in (({"mine": "CC0-1.0"}, "CC0-1.0"), ({"other": "CC0-1.0"}, None)):
        rows, _ = gather([source], Admission(vouched=vouched), downloads)
        assert [row["licence"] for row in rows] == ["CC BY-ND 4.0", second]
        assert rows[0]["refused"] == {"reason": "no derivatives", "detail": "CC-BY-ND-4.0"}
        assert (rows[1]["refused"] is None) == (second is not None)


def test_patients_of_two_sources_are_two_and_only_the_first_photos_are_taken(tmp_path: Path) -> None:
    text = "file,label,licence,patient_id\nx/a.jpg,warts,CC0,p1\nx/b.jpg,warts,CC0,\n"
    path = table(place(tmp_path, "x/a.jpg", "x/b.jpg"), "photos.csv", text)
    sources = [open_source(f"table:{name}={path}") for name in ("mine", "other")]
    rows, _ = gather(sources, Admission(), Downloads(tmp_path / "downloads"), limit=3)
    assert [row["group_id"] for row in rows] == ["mine:p1", None, "other:p1"]


def test_a_release_is_not_told_where_on_a_machine_its_photos_lie(tmp_path: Path) -> None:
    folder = place(tmp_path, "x/a.jpg", "x/b.jpg", "x/c.jpg")
    text = f"file,label\n{tmp_path}/x/a.jpg,warts\nC:\\Users\\ada\\x\\b.jpg,warts\nc.jpg,warts\n"
    source = open_source(f"table:mine={table(folder, 'photos.csv', text)}")
    rows, _ = gather([source], Admission(vouched={"mine": "CC0-1.0"}), Downloads(tmp_path / "downloads"))
    assert [(row["source_file"], row["refused"]) for row in rows] == [
        ("x/a.jpg", None),
        ("x/b.jpg", None),
        ("c.jpg", None),
    ]


def test_the_table_of_pad_ufes_20_as_it_is_published(tmp_path: Path) -> None:
    place(tmp_path, "images/imgs_part_1/PAT_8_15_820.png")
    text = (
        "patient_id,lesion_id,age,gender,fitspatrick,diagnostic,img_id\nPAT_8,15,55,FEMALE,3.0,warts,PAT_8_15_820.png\n"
    )
    (photo,) = photos(f"table:pad={table(tmp_path, 'metadata.csv', text)}")
    assert (photo.labels, photo.group, photo.path is not None) == ((("warts", 1.0),), "PAT_8", True)
    assert (photo.traits.skin_type, photo.traits.age_group, photo.traits.sex) == ("Fitzpatrick 3", "50-59", "female")


def test_what_wikimedia_commons_and_openverse_say_of_a_photo(tmp_path: Path) -> None:
    text = "url,query,Artist,Credit,LicenseShortName\n"
    text += 'http://x.example/a.jpg,warts,"<a href=""//commons.wikimedia.org/wiki/User:D"">D. & Co.</a>",'
    text += '"<span class=""int-own-work"">Own work</span>","CC BY-SA 3.0,2.5,2.0,1.0"\n'
    (photo,) = photos(f"web={table(tmp_path, 'commons.csv', text)}")
    assert (photo.attribution, photo.licence) == ("D. & Co.", "CC BY-SA 3.0,2.5,2.0,1.0")
    text = "url,query,author,credit,license\nhttp://x.example/a.jpg,warts,,Ada,CC BY 4.0\n"
    assert [photo.attribution for photo in photos(f"web={table(tmp_path, 'credits.csv', text)}")] == ["Ada"]
    text = "id,query,url,creator,license,license_version\n7,warts,http://x.example/a.jpg,Doc,by-nc-nd,2.0\n"
    source = open_source(f"web={table(tmp_path, 'openverse.csv', text)}")
    ((row,), _) = gather([source], Admission(), Downloads(tmp_path / "downloads"))
    assert (row["attribution"], row["refused"]["reason"]) == ("Doc", "no derivatives")


# --- Class folders ----------------------------------------------------------------------------------------------------


def test_class_folders_are_found_however_they_are_nested(tmp_path: Path) -> None:
    place(
        tmp_path,
        "Calculus/1.jpg",
        "Data caries/caries augmented data set/preview/a.JPG",
        "train/Mouth Ulcer/2.png",
        "hypodontia/3.jpg",
        "Odd/4.jpg",
        "Odd/Inner/6.jpg",
        "5.jpg",
        "Calculus/4.jpg.1",  # as wget names the second of a name
        "Calculus/.ipynb_checkpoints/1-checkpoint.jpg",  # copies that tools keep are no photos, and no class
        "Calculus/._1.jpg",
        ".thumbnails/1.jpg",
    )
    table(tmp_path, "Calculus/readme.txt", "no picture")
    assert verdicts(f"oral={tmp_path}") == {
        "5.jpg": "no label",
        "Calculus/1.jpg": "dental calculus",
        "Calculus/4.jpg.1": "image format not read: its name has no ending of a picture, such as .jpg",
        "Data caries/caries augmented data set/preview/a.JPG": "caries",
        "Odd/4.jpg": "unknown label",
        "Odd/Inner/6.jpg": "unknown label",
        "hypodontia/3.jpg": "not one of the 34 diagnoses",
        "train/Mouth Ulcer/2.png": "stomatitis",
    }
    unknown = {photo.file: photo.labels for photo in photos(f"oral={tmp_path}") if photo.file.startswith("Odd")}
    assert unknown == {"Odd/4.jpg": (("Odd", 1.0),), "Odd/Inner/6.jpg": (("Inner", 1.0),)}  # the innermost


@pytest.mark.parametrize(
    ("kind", "name", "expected"),
    [
        ("tonsillitis", "Tonsilitis/a.jpg", "tonsillitis"),
        ("tonsillitis", "pharyngitis/a.jpg", "label mixes conditions"),
        ("nails", "test/Onychogryphosis/a.jpg", "nail dystrophy"),
        ("nails", "train/Healthy_Nail/a.jpg", "not one of the 34 diagnoses"),
        ("conjunctivitis", "infected_eye/a.jpg", "conjunctivitis"),
        ("conjunctivitis", "healthy_eye/a.jpg", "not one of the 34 diagnoses"),
        ("folder", "pink eye/a.jpg", "conjunctivitis"),
        ("folder:clinic", "actinic_keratosis/a.jpg", "actinic keratosis"),
    ],
)
def test_sources_of_class_folders(tmp_path: Path, kind: str, name: str, expected: str) -> None:
    assert verdicts(f"{kind}={place(tmp_path, name)}") == {name: expected}


def test_the_identifier_does_not_give_the_class_away(tmp_path: Path) -> None:
    (photo,) = photos(f"folder:clinic={place(tmp_path, 'acne/acne 1.jpg')}")
    assert photo.image_id.startswith("clinic-")
    assert "acne" not in photo.image_id
    assert photo.image_id == photos(f"folder:clinic={tmp_path}")[0].image_id


def test_a_licence_that_a_spreadsheet_lost_is_not_taken_for_silence(tmp_path: Path) -> None:
    text = "label,url,license\nstye,https://example.org/s.jpg,#NAME?\nstye,https://example.org/r.jpg,NA\n"
    found = photos(f"web={table(tmp_path, 'search.csv', text)}")
    assert [photo.licence for photo in found] == ["#NAME?", ""]


def test_no_licence_is_made_up(tmp_path: Path) -> None:
    (photo,) = photos(f"oral={place(tmp_path, 'Calculus/1.jpg')}")
    assert (photo.licence, photo.licence_asserted_by) == ("", "")
    assert "Kaggle" in photo.attribution


def test_files_with_unreadable_names_and_strange_endings_are_counted(tmp_path: Path) -> None:
    place(tmp_path, "acne/a.jpg", "acne/b.heic", "acne/emoji 😀.png")
    (tmp_path / "acne" / os.fsdecode(b"b\xff\xfe.jpg")).write_bytes(picture())
    found = photos(f"folder={tmp_path}")
    assert [photo.file for photo in found] == ["acne/a.jpg", "acne/b.heic", "acne/b\\xff\\xfe.jpg", "acne/emoji 😀.png"]
    assert [photo.problem for photo in found] == ["", "", "unreadable file name", ""]
    assert found[2].path is None
    assert len({photo.image_id for photo in found}) == 4


def test_what_may_hold_photos_and_is_not_opened_is_counted(tmp_path: Path) -> None:
    folder = tmp_path / "photos"
    packed, unread = "archive not opened: unpack it", "image format not read: convert it to JPEG or PNG"
    shut = {"acne/more.zip": packed, "warts.tar.gz": packed, "acne/1.DCM": unread, "acne/scan.pdf": unread}
    shut |= {"acne/a.psd": unread, "acne/a.mov": "film not opened: take its pictures out"}
    for name in ("acne/a.jpg", *shut, "acne/.cache.zip", "acne/notes.txt"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    assert {photo.file: photo.problem for photo in photos(f"folder={folder}")} == {"acne/a.jpg": "", **shut}
    (folder / "acne" / "a.jpg").unlink()
    with pytest.raises(InputError, match=f"holds no image, and acne/1.DCM: {unread}"):
        photos(f"folder={folder}")


def test_a_link_to_a_folder_elsewhere_is_counted(tmp_path: Path) -> None:
    folder = place(tmp_path / "photos", "acne/a.jpg", "acne/.hidden/b.jpg")
    place(tmp_path / "elsewhere", "c.jpg")
    (folder / "warts").symlink_to(tmp_path / "elsewhere")
    (folder / "acne" / "more").symlink_to(tmp_path / "elsewhere")
    (folder / "acne" / "round").symlink_to(folder)  # whose photos are there anyway
    (folder / ".hidden").symlink_to(tmp_path / "elsewhere")
    outside = "image outside its folder: a link leads there"
    assert {photo.file: photo.problem for photo in photos(f"folder={folder}")} == {
        "acne/a.jpg": "",
        "acne/more": outside,
        "warts": outside,
    }
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "warts").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="holds no image, and warts is a link to a folder outside it"):
        photos(f"folder={tmp_path / 'links'}")


@pytest.mark.parametrize("names", [(), ("a.jpg", "b.png"), ("acne/notes.txt",)])
def test_a_folder_without_class_folders(tmp_path: Path, names: tuple[str, ...]) -> None:
    with pytest.raises(InputError, match="each named after a class"):
        photos(f"folder={place(tmp_path, *names)}")


# --- ISIC -------------------------------------------------------------------------------------------------------------


def test_a_lesion_whose_patient_another_row_names_stays_with_that_patient(tmp_path: Path) -> None:
    told = ("p1,L1", "p1,L2", ",L2", ",L3", ",L3", "NA,", "p1,1", "p2,1", ",1")
    rows = "".join(f"{number}.jpg,warts,{cells}\n" for number, cells in enumerate(told))
    path = table(place(tmp_path, "0.jpg"), "photos.csv", f"file,label,patient_id,lesion_id\n{rows}")
    assert [photo.group for photo in photos(f"table={path}")] == ["p1", "p1", "p1", "L3", "L3", None, "p1", "p2", "1"]


ARCHIVE = """isic_id,attribution,copyright_license,diagnosis_1,diagnosis_3,lesion_id,patient_id
ISIC_1,Clinic A,CC-BY,Benign,Seborrheic keratosis,IL_1,IP_1
ISIC_2,Clinic A,CC-BY-NC,Benign,Nevus,IL_2,IP_1
ISIC_3,Clinic B,CC-0,Indeterminate,Solar or actinic keratosis,IL_1,
ISIC_4,Clinic B,,Malignant,,,
ISIC_5,,CC-BY,,,,
"""


def test_the_tables_of_the_isic_archive(tmp_path: Path) -> None:
    place(table(tmp_path, "metadata.csv", ARCHIVE).parent, "images/ISIC_1.jpg", "images/ISIC_3.JPG")
    found = photos(f"isic={tmp_path}")
    assert [photo.image_id for photo in found] == [f"isic-ISIC_{n}" for n in range(1, 6)]
    assert [photo.path.name if photo.path else None for photo in found] == [
        "ISIC_1.jpg",
        None,
        "ISIC_3.JPG",
        None,
        None,
    ]
    # Patient and lesion in one: ISIC_3 shows the lesion of the patient of ISIC_1.
    assert [photo.group for photo in found] == ["IP_1", "IP_1", "IP_1", None, None]
    assert [photo.licence for photo in found] == ["CC-BY", "CC-BY-NC", "CC-0", "", "CC-BY"]
    assert found[0].licence_asserted_by == "column copyright_license of metadata.csv"
    assert found[4].attribution == "ISIC Archive"
    assert list(verdicts(f"isic={tmp_path / 'metadata.csv'}").values()) == [
        "seborrheic keratosis",
        "not one of the 34 diagnoses",
        "actinic keratosis",
        "not one of the 34 diagnoses",
        "no label",
    ]


def test_the_table_of_the_isic_challenge_of_2024(tmp_path: Path) -> None:
    """Its diagnoses have names of their own; the target alone says malignant or not."""
    text = "isic_id,target,age_approx,copyright_license,iddx_full,iddx_1,iddx_2,iddx_3,iddx_4,iddx_5\n"
    text += "ISIC_1,0,60.0,CC-BY,Benign::Epidermal::Seborrheic keratosis,Benign,Epidermal,Seborrheic keratosis,,\n"
    text += "ISIC_2,1,60.0,CC-BY,Malignant,Malignant,,,,\n"
    assert verdicts(f"isic={table(tmp_path, 'train-metadata.csv', text)}") == {
        "ISIC_1": "seborrheic keratosis",
        "ISIC_2": "not one of the 34 diagnoses",
    }


def test_an_isic_table_in_a_folder_beside_that_of_its_images(tmp_path: Path) -> None:
    place(tmp_path, "ISIC2018_Task3_Training_Input/ISIC_1.jpg")
    table(tmp_path / "ISIC2018_Task3_Training_GroundTruth", "truth.csv", "image,MEL,AK\nISIC_1,0.0,1.0\n")
    assert [photo.path is not None for photo in photos(f"isic={tmp_path}")] == [True]


def test_copies_in_another_size_are_not_the_images_of_a_table_beside_its_own(tmp_path: Path) -> None:
    for name, size in (("HAM10000/images", 8), ("thumbnails", 4)):
        (tmp_path / name).mkdir(parents=True)
        Image.new("RGB", (size, size)).save(tmp_path / name / "ISIC_1.jpg")
    table(tmp_path / "HAM10000", "metadata.csv", "image_id,dx\nISIC_1,nv\n")
    (photo,) = photos(f"isic={tmp_path}")
    assert photo.path == tmp_path / "HAM10000" / "images" / "ISIC_1.jpg" and not photo.problem


@pytest.mark.parametrize("name", ["metadata.json", "metadata.parquet"])
def test_an_isic_table_has_to_be_a_csv(tmp_path: Path, name: str) -> None:
    rows = pa.Table.from_pylist([{"isic_id": "ISIC_1", "diagnosis": "nevus"}])
    pq.write_table(rows, tmp_path / "metadata.parquet")
    (tmp_path / "metadata.json").write_text(json.dumps(rows.to_pylist()))
    with pytest.raises(InputError, match="Save it as CSV"):
        photos(f"isic={tmp_path / name}")


def test_a_lesion_of_two_patients_is_refused(tmp_path: Path) -> None:
    """Its photos without a patient went to the one who was listed last, and its others to either: into two splits."""
    rows = "isic_id,diagnosis,lesion_id,patient_id\na,nevus,L1,P1\nb,nevus,L1,\nc,nevus,L1,P2\nd,nevus,,P2\n"
    path = table(tmp_path, "metadata.csv", rows)
    with pytest.raises(InputError, match=r"lesion L1 of two patients, P1 and P2 \(metadata.csv:4\)"):
        photos(f"isic={path}")
    table(tmp_path, "metadata.csv", rows.replace("P2\nd", "P1\nd"))
    assert [photo.group for photo in photos(f"isic={path}")] == ["P1", "P1", "P1", "P2"]


def test_ground_truth_of_an_isic_challenge(tmp_path: Path) -> None:
    text = "image,MEL,AK,BKL\nISIC_1,0.0,1.0,0.0\nISIC_2,0.0,0.0,1.0\nISIC_3,1.0,0.0,0.0\nISIC_4,0.0,0.0,0.0\n"
    assert verdicts(f"isic={table(tmp_path, 'truth.csv', text)}") == {
        "ISIC_1": "actinic keratosis",
        "ISIC_2": "label mixes conditions",
        "ISIC_3": "not one of the 34 diagnoses",
        "ISIC_4": "not one of the 34 diagnoses",
    }


def test_a_table_without_diagnoses_is_refused(tmp_path: Path) -> None:
    path = table(tmp_path, "x.csv", "image_id,age,site\nISIC_1,50,back\n")
    with pytest.raises(InputError, match="diagnosis, dx or diagnosis_1"):
        photos(f"isic={path}")


def test_two_tables_in_a_folder_are_a_question(tmp_path: Path) -> None:
    table(tmp_path, "a.csv", ARCHIVE)
    (tmp_path / "._a.csv").write_bytes(b"\0")  # what an archive made on a Mac holds beside each file
    assert photos(f"isic={tmp_path}")
    table(tmp_path, "b.csv", ARCHIVE)
    with pytest.raises(InputError, match="2 files that match"):
        photos(f"isic={tmp_path}")


def test_real_tables_of_ham10000_and_isic_2017() -> None:
    ham = open_source(f"ham10000={shared_data('tables/HAM10000_metadata.csv')}")
    found = strictly(ham.photos())
    assert len(found) == len({photo.image_id for photo in found}) == 10_015
    assert len({photo.group for photo in found}) == 7_470
    assert Counter(assign(photo.labels, ham.labels, mixed=True).diagnosis for photo in found) == {
        "": 8_589,
        "actinic keratosis": 327,
        "seborrheic keratosis": 1_099,
    }
    challenge = open_source(f"isic={shared_data('tables/ISIC-2017_Training_Part3_GroundTruth.csv')}")
    labels = Counter(photo.labels[0][0] for photo in strictly(challenge.photos()))
    assert labels == {"none of the classes": 1_372, "melanoma": 374, "seborrheic_keratosis": 254}


# --- SCIN -------------------------------------------------------------------------------------------------------------

CASES = """case_id,image_1_path,image_2_path,image_3_path
7,dataset/images/a.png,dataset/images/b.png,
8,dataset/images/c.png,,dataset/images/a.png
9,dataset/images/d.png,,
10,dataset/images/e.png,,
"""
LABELS = """case_id,dermatologist_gradable_for_skin_condition_1,weighted_skin_condition_label
7,DEFAULT_YES,{'Eczema': 1.0}
8,DEFAULT_YES,{'Urticaria': 1.0}
9,NO_IMAGE_QUALITY_INSUFFICIENT,{}
"""


def scin(folder: Path, cases: str = CASES, labels: str = LABELS) -> Path:
    table(folder, "scin_cases.csv", cases)
    table(folder, "scin_labels.csv", labels)
    return place(folder, "dataset/images/a.png", "dataset/images/c.png")


def test_a_folder_of_scin_that_is_not_there_does_not_exist(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for name, found in (("nowhere", "does not exist"), ("file", "is not a folder")):
        with pytest.raises(InputError, match=found):
            photos(f"scin={tmp_path / name}")


def test_cases_of_scin(tmp_path: Path) -> None:
    found = {photo.image_id: photo for photo in photos(f"scin={scin(tmp_path)}")}
    assert list(found) == ["scin-a", "scin-b", "scin-c", "scin-d", "scin-e"]
    # Photo a stands in both cases: it has both labels, and the cases are one group.
    assert found["scin-a"].labels == (("Eczema", 1.0), ("Urticaria", 1.0))
    assert {found[f"scin-{name}"].group for name in "abc"} == {"7"}
    assert found["scin-a"].path is not None
    assert found["scin-b"].path is None
    assert found["scin-b"].attribution == "SCIN (Ward et al. 2024), case 7"
    assert list(verdicts(f"scin={tmp_path}").values()) == [
        "labels disagree",
        "eczema",
        "hives",
        "no label: no image quality insufficient",
        "no label: the case is not in scin_labels.csv",
    ]


@pytest.mark.parametrize(
    ("cases", "labels", "found"),
    [
        (CASES + "7,dataset/images/f.png,,\n", LABELS, "case 7 again, after scin_cases.csv:2"),
        (CASES, LABELS.replace("{'Urticaria': 1.0}", "Urticaria"), "weighted_skin_condition_label 'Urticaria'"),
        (CASES, LABELS.replace("{'Urticaria': 1.0}", "{'Urticaria': None}"), "weighted_skin_condition_label"),
        (CASES.replace("image_", "photo_"), LABELS, "no column image_1_path"),
        (CASES, LABELS.replace("weighted", "heavy"), "has no column 'weighted_skin_condition_label'"),
        (CASES[:-20], LABELS, "a row of 2 cells"),
    ],
)
def test_tables_of_scin_that_cannot_be_read(tmp_path: Path, cases: str, labels: str, found: str) -> None:
    with pytest.raises(InputError) as error:
        photos(f"scin={scin(tmp_path, cases, labels)}")
    assert found in error.value.found


def test_real_tables_of_scin() -> None:
    source = open_source(f"scin={shared_data('tables/scin_cases.csv').parent}")
    found = strictly(source.photos())
    assert len(found) == len({photo.image_id for photo in found}) == 10_380
    assigned = [assign(photo.labels, source.labels) for photo in found if not photo.problem]
    counts = Counter(one.diagnosis for one in assigned)
    assert (counts["eczema"], counts["hives"], counts["mycosis"], counts["nail dystrophy"]) == (734, 340, 190, 3)
    # All but one free text of a dermatologist stands in the label table.
    assert {one.label[:12] for one in assigned if one.problem.startswith("unknown label")} <= {"Rosai Dorfma"}


# --- Fitzpatrick17k ---------------------------------------------------------------------------------------------------

MD5 = "0123456789abcdef0123456789abcdef"


def test_fitzpatrick17k(tmp_path: Path) -> None:
    text = "md5hash,label,qc,url\n"
    text += f"{MD5},psoriasis,,https://example.org/p.jpg\n"
    text += f"{MD5.replace('0', 'f')},mycosis fungoides,1 Diagnostic,https://example.org/m.jpg\n"
    text += f"{MD5.replace('1', 'f').upper()},rosacea,3 Wrongly labelled,https://example.org/r.jpg\n"
    text += f"{MD5.replace('2', 'f')},rosacea,,\n"
    text += "xyz,rosacea,,https://example.org/x.jpg\n"
    path = table(tmp_path, "fitzpatrick17k.csv", text)
    assert list(verdicts(f"fitzpatrick17k={path}").values()) == [
        "psoriasis",
        "not one of the 34 diagnoses",
        "wrongly labelled, says the source",
        "no address",
        "no MD5 digest: xyz",
    ]
    assert photos(f"fitzpatrick17k={path}")[0].url == "https://example.org/p.jpg"
    place(tmp_path, f"images/{MD5}.jpg")
    (first, *_) = photos(f"fitzpatrick17k={tmp_path}")
    assert first.path == tmp_path / "images" / f"{MD5}.jpg"
    assert first.url is None
    assert first.md5 == MD5


def test_the_real_table_of_fitzpatrick17k() -> None:
    source = open_source(f"fitzpatrick17k={shared_data('tables/fitzpatrick17k.csv')}")
    found = strictly(source.photos())
    assert len(found) == len({photo.image_id for photo in found}) == 16_577
    problems = Counter(photo.problem for photo in found)
    assert problems == {"": 16_519, "no address": 41, "wrongly labelled, says the source": 17}
    assert Counter(assign(photo.labels, source.labels).diagnosis for photo in found)["psoriasis"] == 706
    assert all(photo.licence == "CC-BY-NC-SA-3.0" for photo in found)


# --- Tables of files and addresses ------------------------------------------------------------------------------------


def test_a_web_search(tmp_path: Path) -> None:
    text = "query,contentUrl,hostPageUrl,license\nstye,https://example.org/s.jpg,https://example.org/,\n"
    text += "ringworm,https://example.org/r.jpg,,CC BY 4.0\nmeasles,https://example.org/m.jpg,,\nacne,,,\n"
    found = photos(f"web={table(tmp_path, 'search.csv', text)}")
    assert [photo.url for photo in found[:2]] == ["https://example.org/s.jpg", "https://example.org/r.jpg"]
    assert [photo.licence for photo in found] == ["", "CC BY 4.0", "", ""]
    assert found[1].licence_asserted_by == "column license of the source web"
    assert found[1].attribution == "https://example.org/r.jpg"
    assert list(verdicts(f"web={tmp_path / 'search.csv'}").values()) == [
        "stye",
        "mycosis",
        "unknown label",
        "neither a file nor an address",
    ]


def test_a_table_of_files(tmp_path: Path) -> None:
    text = "file,label,group_id,licence,attribution\nx/a.jpg,warts,p1,CC0,Me\nx/gone.jpg,warts,p1,CC0,Me\n"
    path = table(place(tmp_path, "x/a.jpg"), "photos.csv", text)
    first, second = photos(f"table:mine={path}")
    assert (first.source, first.group, first.licence, first.attribution) == ("mine", "p1", "CC0", "Me")
    assert first.path == tmp_path / "x" / "a.jpg"
    assert second.path is None
    assert second.problem == ""  # the build says that the image is missing


@pytest.mark.parametrize("suffix", ["parquet", "json", "jsonl", "yaml"])
def test_a_table_whose_cells_have_types(tmp_path: Path, suffix: str) -> None:
    place(tmp_path, "x/a.jpg", "x/b.jpg")
    rows = [
        {"File": "x/a.jpg", "label": "warts", "group_id": 12.0, "age": 45, "unused": [1]},
        {"File": "x/b.jpg", "label": "warts", "group_id": None, "age": None, "unused": None},
    ]
    path = tmp_path / f"photos.{suffix}"
    if suffix == "parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    else:
        lines = suffix == "jsonl"
        path.write_text("\n".join(map(json.dumps, rows)) if lines else json.dumps(rows), encoding="utf-8")
    first, second = photos(f"table={path}")
    assert (first.path, first.group, first.traits.age_group) == (tmp_path / "x/a.jpg", "12", "40-49")
    assert (second.path, second.group, second.traits.age_group) == (tmp_path / "x/b.jpg", None, None)


def test_a_cell_that_is_no_text_is_a_bad_row_of_the_source(tmp_path: Path) -> None:
    cells = '{"url": "https://example.org/a.jpg", "label": "warts"}\n{"url": ["Doe"], "label": "warts"}\nDoe\n'
    source = open_source(f"table:mine={table(tmp_path, 'photos of Doe.jsonl', cells)}")
    _, bad = gather([source], Admission(), Downloads(tmp_path / "downloads"))
    own = [Nameless(frozenset({"mine"}), b"key").bad(name, row) for name, row in bad]
    assert [(row.where, row.reason) for row in own] == [("mine:2", "a cell of another type"), ("mine:3", "no JSON")]
    assert "Doe" not in "".join(row.detail for row in own)
    other = Nameless(frozenset({"mine"})).bad("mine", BadRow("Doe.parquet, row 7", reason="a cell of another type"))
    assert other.where == "mine, row 7"
    two = table(tmp_path, "two.json", '[{"url": "x", "label": "a", "Label": "b"}]')
    with pytest.raises(InputError, match="'label' and 'Label', which have the same name"):
        photos(f"table={two}")


def test_a_file_that_is_there_and_not_read_is_not_called_missing(tmp_path: Path) -> None:
    place(tmp_path, "elsewhere/a.jpg", "photos/x/picture")
    names = [f"{tmp_path}/elsewhere/a.jpg", "../elsewhere/a.jpg", "x/picture", f"{tmp_path}/elsewhere/gone.jpg"]
    names += ["x" * 5000 + ".jpg"]
    text = "\n".join(["file,label,url", *(f"{name},warts," for name in names), f"{names[0]},warts,http://a.example/"])
    found = photos(f"table={table(tmp_path / 'photos', 'photos.csv', text)}")
    outside = "image outside its folder: only files below the folder of the table are read"
    unread = "image format not read: its name has no ending of a picture, such as .jpg"
    assert [photo.problem for photo in found] == [outside, outside, unread, "", "", ""]


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        *((cell, "Fitzpatrick 3") for cell in ("3", "3.0", "III", "FST3", "FST III", "type iii", "Type III")),
        *((cell, "Fitzpatrick 3") for cell in ("Fitzpatrick 3", "Fitzpatrick type III", "Fitzpatrick skin type 3")),
        *((cell, "Monk 7") for cell in ("Monk 7", "MST 7", "monk skin tone 7", "MST7")),
        *(("Fitzpatrick 6", "Fitzpatrick 6"), ("Monk 10", "Monk 10")),  # the darkest of each scale
        *((cell, None) for cell in ("", "0", "7", "-1", "3.5", "III-IV", "type", "VII", "Monk 11", "MST", "tone 5")),
        *((cell, None) for cell in ("Roberts 3", "brown 3", "photo 3", "type III or IV")),
    ],
)
def test_the_skin_type_of_a_table_is_on_one_of_two_scales(tmp_path: Path, cell: str, expected: str | None) -> None:
    path = table(tmp_path, "photos.csv", f"url,label,skin_type\nhttps://example.org/a.jpg,warts,{cell}\n")
    (photo,) = photos(f"table={path}")
    assert photo.traits.skin_type == expected and not photo.problem
    assert photo.traits.skin_type_asserted_by == (expected and "column skin_type of the source table")


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        *(("0", "0-17"), ("17.9", "0-17"), ("18", "18-29"), ("79", "70-79"), ("80", "80+"), ("130", "80+")),
        *(("45 y", "40-49"), ("45 years", "40-49"), ("9yr", "0-17"), ("6 months", None), ("45 yards", None)),
        *(("AGE_80_OR_ABOVE", "80+"), ("AGE_18_TO_29", "18-29"), ("70-79", "70-79"), ("80+", "80+")),
        *(("90+", "80+"), (">89", "80+"), ("over 89", "80+"), ("85 and over", "80+"), ("≥ 90 years", "80+")),
        *(("60+", None), ("over 60", None), ("131+", None), ("131", None), ("-3", None), ("adult", None), ("", None)),
    ],
)
def test_the_age_of_a_table_is_in_years_or_a_group(tmp_path: Path, cell: str, expected: str | None) -> None:
    path = table(tmp_path, "photos.csv", f"url,label,age\nhttps://example.org/a.jpg,warts,{cell}\n")
    (photo,) = photos(f"table={path}")
    assert photo.traits.age_group == expected and not photo.problem


def test_an_own_label_table(tmp_path: Path) -> None:
    place(tmp_path / "photos", "sore throat/a.jpg")
    labels = table(tmp_path, "labels.csv", "label,diagnosis\nsore throat,tonsillitis\n")
    source = open_source(f"folder={tmp_path / 'photos'}", labels=labels)
    assert [assign(photo.labels, source.labels).diagnosis for photo in strictly(source.photos())] == ["tonsillitis"]


# --- What is no source ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["", "folder", "folder=", "=x", "kaggle=x", "folder:=x", "folder:My Clinic=x", "samples", "SCIN=x"]
)
def test_what_is_no_source(text: str) -> None:
    with pytest.raises(InputError, match="KIND=PATH.*; NAME of a to z, 0 to 9 and _"):
        open_source(text)


@pytest.mark.parametrize("kind", ["oral", "isic", "scin", "fitzpatrick17k", "web", "table", "folder"])
def test_a_place_that_is_not_there(tmp_path: Path, kind: str) -> None:
    with pytest.raises(InputError) as error:
        photos(f"{kind}={tmp_path / 'gone'}")
    assert "gone" in error.value.where


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("label\nacne\n", "columns label"),
        ("file\nx.jpg\n", "has no column 'label'"),
        ("file,label\nx.jpg\n", "a row of 1 cell"),
        ('file,label\n"x.jpg,acne\n', "cannot be read as CSV"),
        ("", "is empty"),
    ],
)
def test_tables_in_bad_shape(tmp_path: Path, text: str, found: str) -> None:
    with pytest.raises(InputError) as error:
        photos(f"table={table(tmp_path, 'a.csv', text)}")
    assert found in error.value.found


def test_one_address_with_two_digests_is_fetched_for_neither(tmp_path: Path) -> None:
    table = tmp_path / "photos.csv"
    lines = [f"p{n}.jpg,http://127.0.0.1:9/a.jpg,{digest * 32},acne,CC0" for n, digest in enumerate("ab")]
    table.write_text("\n".join(["file,url,md5,label,licence", *lines]), encoding="utf-8")
    rows, bad = gather([open_source(f"table={table}")], Admission(), Downloads(tmp_path / "downloads"))
    assert [row["refused"]["reason"] for row in rows] == ["one address with different digests"] * 2 and not bad
    assert not (tmp_path / "downloads").exists()
