#!/usr/bin/env bash
# Tables 3 and A3 and Figure A4 (i): zero-shot retrieval by register, with the tests of its deltas (Section 4.4, D).
#
#   scripts/reproduce/medlaybench_v/table_3.sh [DATA]
#
# DATA is what `bedside run` takes; by default the authors' release. The run also holds the rows SCGR (Ours) and Expert
# of Table A4. Table 3 follows four pools, one a modality, and Table A3 one pool of all rows: the two do not compare.
#
# Published
#   OpenAI-CLIP-Base | Table 3 I2T R@1 1.23 expert, 1.08 layman; Table A3 R@1 -0.07, p 0.020
#   BiomedCLIP | Table 3 I2T R@1 31.06 expert, 30.70 layman; Table A3 R@1 -0.41, p 0.001
# The checkpoints are our reading of the paper's names (loaders/models/encoders.py): the authors' code pins BiomedCLIP's only.
#
# Cost: for each encoder 9,927 images and up to 19,854 captions through it, once: embeddings stay in runs/embeddings. A
# GPU is best for the large ones, CoCa-Large, OpenCLIP-Huge and BMC-CLIP.
set -euo pipefail
data="${1:-official}"
bedside run retrieval "$data" --split test -o runs/paper/retrieval \
  --model OpenAI-CLIP-Base --model CoCa-Large --model LAION-2B --model OpenCLIP-Huge \
  --model PubMedCLIP --model BMC-CLIP --model PMC-CLIP --model BiomedCLIP
bedside compare runs/paper/retrieval
