"""A MedCAT pack, made once."""

from __future__ import annotations

from pathlib import Path

import pytest

CONCEPTS = [
    ("C0032227", "pleural effusion"),
    ("C0032227", "effusion of the pleura"),
    ("C0032227", "hydrothorax"),
    ("C0024109", "lung"),
    ("C0040405", "computed tomography"),
    ("39607008", "mediastinum"),  # a SNOMED code, no CUI
]


def _made(folder: Path) -> Path:
    pytest.importorskip("medcat", reason="MedCAT is not installed here (pip install 'bedside[medcat]')")
    import numpy as np
    import pandas as pd
    from medcat.cat import CAT
    from medcat.config import Config
    from medcat.model_creation.cdb_maker import CDBMaker
    from medcat.vocab import Vocab

    config = Config()
    config.general.nlp.provider = "regex"
    table = pd.DataFrame(CONCEPTS, columns=["cui", "name"]).assign(
        ontologies="TEST", name_status="P", type_ids="T000", description=""
    )
    vocab = Vocab()
    for word in ("pleural", "effusion", "lung", "right", "shows"):
        vocab.add_word(word, cnt=10, vec=np.ones(4))
    vocab.init_cumsums()
    folder.mkdir(parents=True)
    return Path(
        CAT(CDBMaker(config).prepare_csvs([table]), vocab, config).save_model_pack(str(folder), pack_name="tiny")
    )


@pytest.fixture(scope="session")
def pack(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a real, tiny MedCAT pack, which nobody changes; its archive is beside it, with the suffix .zip."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MEDCAT_DISABLE_VERSION_CHECK", "true")
        return _made(tmp_path_factory.mktemp("medcat") / "packs")
