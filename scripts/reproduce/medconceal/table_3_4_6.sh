#!/usr/bin/env bash
# Tables 3, 4 and 6: whether five clinicians resolve the main concern, in at most 8 and 20 turns (Section 4.2).
#
#   scripts/reproduce/medconceal/table_3_4_6.sh [DATA]
#
# DATA is what `bedside run intervention` takes; by default the authors' release. PATIENT, EVALUATOR and JUDGE name the
# models of the other roles, which the paper does not name. TRANSCRIPTS names a JSON file of dialogues of people, and
# RATER the evaluator of those that have no trace. LIMIT plays fewer cases.
#
# Published
# Success; Turn-to-Address.
#   Human clinicians | 0.427, 7.125
#   Qwen-3.5-9B | 8 turns 0.030, 6.333; 20 turns 0.073, 8.591
#   Claude Sonnet 4.5 | 8 turns 0.293, 5.239; 20 turns 0.333, 5.960
#   GPT-5.2 | 8 turns 0.077, 5.043; 20 turns 0.126, 8.526
#   Doctor-R1 | 8 turns 0.150, 6.938; 20 turns 0.427, 11.164
#   Llama3-OpenBioLLM-8B | 8 turns 0.013, 5.500; 20 turns 0.040, 6.417
# A concern is never addressed before turn 5, nor sooner than 3 turns after it came out: so it is in the paper's numbers
# too. The rates depend on evaluator, weights and cases, of which none is published.
#
# Cost: 300 cases of up to 20 turns with three requests each, and two of the judge, for each of ten runs. A run that was
# stopped goes on with the same command and pays for nothing twice.
set -euo pipefail
. "$(dirname "$0")/play_task"
play_task intervention "$@"
bedside compare "${runs[@]}"
bedside report "${runs[@]}" -o runs/paper/table_3_4_6.html
