#!/usr/bin/env bash
# Table 7: physicians and GPT-4o-mini on the same cases without dialogue (Appendix D).
#
#   scripts/reproduce/threemdbench/table_7.sh [DATA]    write blank sheets, two raters a setting
#   scripts/reproduce/threemdbench/table_7.sh score     when they are filled
#
# The model's numbers are those of the runs of table_5_6.sh in the two settings without dialogue.
#
# Published
# Called F1; accuracies over 33 cases, and p values of an unpaired t test.
#   General complaint + image | GPT-4o-mini 54.55; Labeler #1 39.39, p 0.22; Labeler #2 27.27, p 0.02
#   Full complaints list + image | GPT-4o-mini 54.55; Labeler #3 57.58, p 0.81; Labeler #4 54.55, p 1.00
# The run adds the exact paired test that one set of cases asks for.
#
# Cost: 34 cases a physician; others for each setting.
set -euo pipefail
if [ "${1:-}" = score ]; then
  bedside select physicians runs/study/general-R*.csv --run runs/paper/gpt-4o-mini-image+basic -o runs/paper/physicians-general
  bedside select physicians runs/study/full-R*.csv --run runs/paper/gpt-4o-mini-image+all -o runs/paper/physicians-full
  bedside compare runs/paper/physicians-general runs/paper/physicians-full
else
  bedside select physicians-sheet "${1:-official}" --setting image+basic -o runs/study/general.csv
  bedside select physicians-sheet "${1:-official}" --setting image+all -o runs/study/full.csv
fi
