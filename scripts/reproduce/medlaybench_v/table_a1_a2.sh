#!/usr/bin/env bash
# Tables A1 and A2 and Figure A2: pairs by modality, frequent concepts, their long tail (Appendix B).
#
#   scripts/reproduce/medlaybench_v/table_a1_a2.sh [DATA]
#
# DATA is what `bedside run` takes; by default the authors' release, which has the UMLS concepts of Table A2 only: its
# terms ("arrow", "abdomen") read "not computed". A release made here has terms, but by another recogniser.
#
# Published
#   Computed Tomography (CT) | 27,747
#   X-Ray (Plain Radiography) | 21,997
#   Magnetic Resonance Imaging (MRI) | 12,657
#   Ultrasonography | 11,429; as a concept 11,422
#   Angiography | 4,799
#   Combined Modality | 728
#   Positron Emission Tomography (PET) | 432
#   Total | 79,789
#   Chest | 7,196
# Expect 79,793 in all: four records have no modality in the paper, and are combined or unstated ones here.
#
# Cost: no GPU; seconds.
set -euo pipefail
data="${1:-official}"
bedside run concepts "$data" -o runs/paper/concepts
bedside compare runs/paper/concepts
