#!/usr/bin/env bash
# Tables 7 to 11: people against the best model, case by case (Appendices E.2 and E.3).
#
#   scripts/reproduce/medconceal/table_7_11.sh REFERENCE RUN…
#
# REFERENCE and RUN… are folders of finished runs of one task, as table_1_2_6.sh and table_3_4_6.sh leave them. Of several
# runs, the best by each metric is compared, which favours the winner; the note of every number says so.
#
# Published
# Difference of the means over cases, people less model.
#   Human clinicians (Claude summary) minus Claude Sonnet 4.5 | Fine Recall 0.094 and 0.134, Fine F1 0.058 and 0.061
#   Human clinicians (Claude summary) minus Claude Sonnet 4.5 | Coarse Recall 0.115, Coarse F1 0.037
#   Human clinicians (Human summary) minus GPT-5.2 | Coarse Precision 0.149, Fine Precision 0.165 and 0.125
#   Human clinicians minus Claude Sonnet 4.5 | Reveal Rate 0.173, Success 0.133
# The paper tests neither the Reveal Rate of Task 1 nor, against people's own summaries, Coarse Recall; both are here.
#
# Cost: seconds; nobody is asked.
set -euo pipefail
bedside contrast "$@" -o runs/paper/table_7_11
bedside compare runs/paper/table_7_11
bedside report runs/paper/table_7_11 -o runs/paper/table_7_11.html
