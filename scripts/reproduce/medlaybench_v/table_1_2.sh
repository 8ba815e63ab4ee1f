#!/usr/bin/env bash
# Tables 1 and 2: readability of both registers, and how far the lay captions keep the experts' words (Section 4.2).
#
#   scripts/reproduce/medlaybench_v/table_1_2.sh [DATA]
#
# DATA is what `bedside run` takes; by default the authors' release. An expected value is that of the split Overall.
#
# Published
#   Expert | FKGL 13.10, CLI 15.82, DCRS 14.03, SMOG 13.75, FRE 26.14, words 24.17, vocabulary 44,673
#   Layman | FKGL 10.35, CLI 9.88, DCRS 11.74, SMOG 12.25, FRE 55.88, words 28.13, vocabulary 24,085
#   Layman against Expert | BLEU-4 21.34, ROUGE-L 49.56, METEOR 53.12, LENS 63.19, RaTEScore 64.70, GREEN 69.29
# The paper names no implementation and no version, so that values differ most where these do: SMOG, BLEU-4, METEOR.
# LENS, RaTEScore and GREEN read "not computed" without their weights.
#
# Cost: no GPU; about a minute on one core for 79,793 pairs. GREEN is a model of 7 billion parameters and needs a GPU.
set -euo pipefail
data="${1:-official}"
bedside run language "$data" -o runs/paper/language
bedside compare runs/paper/language
