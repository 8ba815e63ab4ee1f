#!/usr/bin/env bash
# Tables 1, 2 and 6, Figure 2: what five clinicians surface and how they talk, in 8 and in up to 20 turns (Section 4.1).
#
#   scripts/reproduce/medconceal/table_1_2_6.sh [DATA]
#
# DATA is what `bedside run confirmation` takes; by default the authors' release. PATIENT, EVALUATOR and JUDGE name the
# models of the other roles, which the paper does not name. TRANSCRIPTS names a JSON file of dialogues of people, and
# RATER the evaluator of those that have no trace. LIMIT plays fewer cases.
#
# Published
# Reveal Rate; Fine F1.
#   Human clinicians | Human summary 0.558, 0.523; Claude summary 0.558, 0.567
#   Qwen-3.5-9B | 8 turns 0.431, 0.193; Adaptive 0.934, 0.079
#   Claude Sonnet 4.5 | 8 turns 0.522, 0.503; Adaptive 0.542, 0.509
#   GPT-5.2 | 8 turns 0.247, 0.485; Adaptive 0.252, 0.512
#   Doctor-R1 | 8 turns 0.348, 0.489; Adaptive 0.762, 0.308
#   Llama3-OpenBioLLM-8B | 8 turns 0.520, 0.143; Adaptive 0.944, 0.480
# The rates depend on the evaluator, the weights of the patient and the cases, of which none is published: compare the
# order of clinicians and the gap between Reveal Rate and Fine F1, not the rates.
#
# Cost: 300 cases of 8 to 20 turns with three requests each, and up to 20 of the judge, for each of ten runs. A run that
# was stopped goes on with the same command and pays for nothing twice.
set -euo pipefail
. "$(dirname "$0")/play_task"
play_task confirmation "$@"
bedside compare "${runs[@]}"
bedside report "${runs[@]}" -o runs/paper/table_1_2_6.html
