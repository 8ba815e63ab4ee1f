#!/usr/bin/env bash
# Table 4: human evaluation of 100 pairs by two radiologists and a lay reader (Section 4.3).
#
#   scripts/reproduce/medlaybench_v/table_4.sh                       write blank sheets
#   scripts/reproduce/medlaybench_v/table_4.sh runs/study/*-R*.csv   when they are filled
#
# RELEASE in the environment names the release to draw from, by default runs/v1; PAIRS is the number of pairs.
#
# Published
#   E1 (radiologist) | mean and SD: 4.67 0.68, 4.66 0.68, 4.69 0.63, 4.85 0.38
#   E2 (radiologist) | mean and SD: 4.96 0.40, 4.96 0.40, 4.73 0.53, 4.98 0.14
#   L (lay reader) | mean and SD: 4.95 0.17, 4.95 0.22, 4.54 0.62, 4.96 0.20
#   Average of the three raters | 4.86, 4.86, 4.65, 4.93
# Columns: factual correctness, completeness, simplicity, fluency. `bedside ratings` says which of these values no 100
# ratings can have.
#
# Cost: 100 pairs a rater.
set -euo pipefail
if [ $# -eq 0 ]; then
  bedside sheet "${RELEASE:-runs/v1}" --pairs "${PAIRS:-100}" --raters 3 --split test -o runs/study/sheet.csv
else
  bedside ratings "$@" -o runs/paper/ratings
  bedside compare runs/paper/ratings
fi
