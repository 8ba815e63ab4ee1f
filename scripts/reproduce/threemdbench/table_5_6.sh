#!/usr/bin/env bash
# Tables 5 and 6, Figures 3-5 and 9-15: diagnosis and clinical competence by doctor and setting (Section 4, F, G).
#
#   scripts/reproduce/threemdbench/table_5_6.sh [DATA]
#
# DATA is what `bedside run consultation` takes; by default the authors' release. The cues are those that table_8.sh
# left, or CUES names others for DATA; without any the setting with external cues is left out. LIMIT plays fewer cases,
# each the same for all.
#
# Published
# F1 in percent, counted as the authors' notebook does; number of utterances.
#   GPT-4o-mini | no dialogue, image + general complaint 50.4, image + all complaints 66.8
#   GPT-4o-mini | dialogue, no image 52.8, 15.22; dialogue + image 54.2, 13.32
#   GPT-4o-mini | dialogue + image + rationale 56.9, 14.99; + external cues 70.3, 14.48
#   Llama-3.2-11B-Vision-Instruct | dialogue + image 41.5, 14.49
#   Qwen2-VL | dialogue + image 39.0, 15.11
#   MedGemma-4B | dialogue + image 37.9, 17.48
#   MedGemma-27B | dialogue + image 45.7, 16.88
#   Gemma-3-27B | dialogue + image 51.1, 14.81
# --protocol authors plays, ends and assesses as the authors' code does. PROMPTS names a folder with copies of the
# paper's prompts (Appendix H.3-H.5); without it those of Bedside are played, and no number is a reproduced one.
#
# Cost: 2,996 cases of about 15 utterances and two to five answers of the assessor each, for eleven systems; the paper
# says 210 hours of one A100. A run that was stopped goes on with the same command and pays for nothing twice.
set -euo pipefail
data="${1:-official}"
patient=vllm/meta-llama/Meta-Llama-3-8B-Instruct
assessor=vllm/llava-hf/llava-onevision-qwen2-72b-ov-chat-hf
doctors=(vllm/meta-llama/Llama-3.2-11B-Vision-Instruct vllm/Qwen/Qwen2-VL-7B-Instruct vllm/google/medgemma-4b-it
  vllm/google/medgemma-27b-it vllm/google/gemma-3-27b-it)
common=(--protocol authors ${LIMIT:+--limit "$LIMIT"} ${PROMPTS:+--prompts "$PROMPTS"})
runs=()
bedside check openai/gpt-4o-mini "${doctors[@]}" "$patient" "$assessor"
play() { # doctor, setting, further options
  local out="runs/paper/${1##*/}-$2"
  bedside run consultation "$data" --doctor "$1" --patient "$patient" --assessor "$assessor" --setting "$2" \
    "${common[@]}" "${@:3}" -o "$out"
  runs+=("$out")
}
for setting in image+basic image+all; do
  out="runs/paper/gpt-4o-mini-$setting"
  bedside run consultation "$data" --doctor openai/gpt-4o-mini --assessor "$assessor" --setting "$setting" \
    "${common[@]}" -o "$out"
  runs+=("$out")
done
for setting in dialogue dialogue+image dialogue+image+rationale; do
  play openai/gpt-4o-mini "$setting"
done
cues="${CUES:-runs/paper/classifier-XL-predicted/cues.parquet}"
if [ -n "${CUES:-}" ] || [ -e "$cues" ]; then
  play openai/gpt-4o-mini dialogue+image+rationale+cues --cues "$cues"
else
  echo "no $cues: the setting with external cues is left out (table_8.sh makes them)" >&2
fi
for doctor in "${doctors[@]}"; do
  play "$doctor" dialogue+image
done
bedside compare "${runs[@]}"
bedside contrast "${runs[@]}"
bedside report "${runs[@]}" -o runs/paper/table_5_6.html
