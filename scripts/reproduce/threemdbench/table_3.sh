#!/usr/bin/env bash
# Table 3: candidate patient models (Section 3.3, Appendix H.2).
#
#   scripts/reproduce/threemdbench/table_3.sh [DATA]
#
# DATA is what `bedside select patient` takes; by default the authors' release, of which only the test split has
# complaints: the paper used its validation part, which is not public, so that own numbers stand beside the published
# ones and are no reproduction of them. LIMIT in the environment is the number of cases, by default 100.
#
# Published
# Instruction following, relevance, factuality, mean rank.
#   Llama-3-8B-Instruct | 4.72, 0.65, 0.79, 3.00 (chosen)
#   Llama-3.1-8B | 4.74, 0.59, 0.77, 3.67
#   Qwen2.5-7B | 4.71, 0.84, 0.67, 3.33
#   Qwen2.5-14B | 4.59, 0.76, 0.78, 3.67
#   Falcon-7B | 4.37, 0.90, 0.59, 4.33
#   GPT-4o-mini | 4.38, 0.82, 0.98, 3.00
# Factuality there is by NV-Embed-v2, whose repository brings code of its own and is not run here; set ENCODER to a
# sentence encoder of transformers. A threshold of 0.8 means something else for every encoder.
#
# Cost: about 40 answers of each candidate, 20 of the doctor and 10 of the judge a case; a GPU for the open models.
set -euo pipefail
data="${1:-official}"
bedside select patient "$data" --limit "${LIMIT:-100}" -o runs/paper/select-patient \
  --doctor openai/gpt-4o-mini --judge openai/gpt-4o-mini --encoder "${ENCODER:-hf:BAAI/bge-large-en-v1.5}" \
  --patient vllm/meta-llama/Meta-Llama-3-8B-Instruct --patient vllm/meta-llama/Llama-3.1-8B-Instruct \
  --patient vllm/Qwen/Qwen2.5-7B-Instruct --patient vllm/Qwen/Qwen2.5-14B-Instruct \
  --patient vllm/tiiuae/falcon-7b-instruct --patient openai/gpt-4o-mini
bedside compare runs/paper/select-patient
