#!/usr/bin/env bash
# Figure A3: expert and lay captions in the embedding space, by modality (Appendix C).
#
#   scripts/reproduce/medlaybench_v/figure_a3.sh [DATA]
#
# DATA is what `bedside run` takes; by default the authors' release.
#
# Published: about these, over all models
#   All models | cosine 0.99, distance 0.05 to 0.07
# A distance of 0.05 to 0.07 between unit vectors is a cosine of 0.998 to 0.999: the two cannot both come back exactly.
# The run adds the cosine of an expert caption and the lay caption of another pair, without which 0.99 says little.
#
# Cost: the captions of the test split once through each encoder, unless runs/embeddings has them from Table 3; then
# about half a minute of t-SNE an encoder, on one core.
set -euo pipefail
data="${1:-official}"
bedside run embedding-space "$data" --split test -o runs/paper/embedding-space \
  --model OpenAI-CLIP-Base --model BiomedCLIP --model PMC-CLIP
bedside compare runs/paper/embedding-space
