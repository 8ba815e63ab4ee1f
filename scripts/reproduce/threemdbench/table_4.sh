#!/usr/bin/env bash
# Table 4 and Figure 8: candidate assessor models and the agreement of human annotators (Section 3.4, Appendix B).
#
#   scripts/reproduce/threemdbench/table_4.sh                              write blank sheets
#   scripts/reproduce/threemdbench/table_4.sh runs/study/dialogues-R*.csv  when they are filled
#
# RUNS in the environment names the runs of consultations to annotate, by default those of Tables 5 and 6; DATA what
# they were played on. The authors published neither their annotations nor the dialogues.
#
# Published
# Mean kappa over the criteria, extraction F1; of the annotators, the mean of their pairwise kappas.
#   DeepSeek-VL | 0.00, 55.9
#   Qwen2-VL-72B-Instruct | 0.36, 78.0
#   LLaVA-OneVision-Qwen2-72B-ov-chat-hf | 0.43, 78.0 (chosen)
#   GPT-4o-mini | 0.32, 76.3
#   All five participants | 0.42
#   Four participants | 0.49, without the careless one
#   Participant #1 | 0.33, the careless one
#
# Cost: about 6 hours an annotator; two answers of each candidate a dialogue, 72B models on four GPUs or more.
set -euo pipefail
read -ra runs <<< "${RUNS:-runs/paper/gpt-4o-mini-dialogue+image runs/paper/gemma-3-27b-it-dialogue+image}"
if [ $# -eq 0 ]; then
  bedside select sheet "${runs[@]}" --count 100 --raters 5 -o runs/study/dialogues.csv
else
  bedside select assessor "$@" "${runs[@]/#/--run=}" --data "${DATA:-official}" -o runs/paper/select-assessor \
    --assessor vllm/Qwen/Qwen2-VL-72B-Instruct --assessor vllm/llava-hf/llava-onevision-qwen2-72b-ov-chat-hf \
    --assessor openai/gpt-4o-mini
  bedside compare runs/paper/select-assessor
fi
