"""The sources of the paper (S1), with their licences as far as their publishers state them, and who says so.

Where no licence could be read, none is claimed: such photos are left out unless whoever builds vouches for them by name
(`--licence SOURCE=NAME`) or lets unknown licences through (`--allow-licence unknown`).
"""

from __future__ import annotations

from builders.threemdbench.sources.photo import Facts

SCIN_LICENCE = "SCIN Data Use License"
# Licences that are no Creative Commons ones, but that were read and allow a photo to be shared and adapted.
SHAREABLE = frozenset({SCIN_LICENCE})

ORAL = Facts(
    "oral",
    "Oral Diseases (Kaggle), as used by Priyanshu9898/Oral-Disease-Classification",
    "https://github.com/Priyanshu9898/Oral-Disease-Classification",
    "",
    "",
    "Oral Diseases, S. Sajid (Kaggle)",
)
TONSILLITIS = Facts(
    "tonsillitis",
    "Different phases of tonsilitis (Kaggle)",
    "https://www.kaggle.com/datasets/anindamohanta/different-phases-of-tonsilitis",
    "",
    "",
    "Different phases of tonsilitis, A. Mohanta (Kaggle)",
)
NAILS = Facts(
    "nails",
    "Nail Disease Detection Dataset (Kaggle)",
    "https://www.kaggle.com/datasets/nikhilgurav21/nail-disease-detection-dataset",
    "",
    "",
    "Nail Disease Detection Dataset, N. Gurav (Kaggle)",
)
CONJUNCTIVITIS = Facts(
    "conjunctivitis",
    "Conjunctivitis (Kaggle)",
    "https://www.kaggle.com/datasets/alisofiya/conjunctivitis",
    "",
    "",
    "Conjunctivitis, A. Sofiya (Kaggle)",
)
ISIC = Facts("isic", "ISIC Archive", "https://www.isic-archive.com", "", "", "ISIC Archive")
HAM10000 = Facts(
    "ham10000",
    "HAM10000",
    "https://doi.org/10.7910/DVN/DBW86T",
    "CC-BY-NC-4.0",
    "its publishers (Tschandl et al. 2018)",
    "HAM10000 (Tschandl et al. 2018), ViDIR Group, Medical University of Vienna",
)
SCIN = Facts(
    "scin",
    "SCIN: Skin Condition Image Network",
    "https://github.com/google-research-datasets/scin",
    SCIN_LICENCE,
    "LICENSE of google-research-datasets/scin",
    "SCIN (Ward et al. 2024)",
)
FITZPATRICK17K = Facts(
    "fitzpatrick17k",
    "Fitzpatrick17k",
    "https://github.com/mattgroh/fitzpatrick17k",
    "CC-BY-NC-SA-3.0",
    "README of mattgroh/fitzpatrick17k, not the atlases that hold the photos",
    "Fitzpatrick17k (Groh et al. 2021)",
)
WEB = Facts("web", "Web image search", None, "", "", "")
FOLDER = Facts("folder", "Folder of photos", None, "", "", "")
TABLE = Facts("table", "Table of photos", None, "", "", "")
SAMPLE = Facts("sample", "bundled sample of drawn photos", None, "", "", "")
