#!/usr/bin/env bash
# Table A5: vision-language models describe 1,000 test images in both registers (Section 4.5, Appendix F).
#
#   scripts/reproduce/medlaybench_v/table_a5.sh MODEL [DATA]
#
# Once a model, such as vllm/Qwen/Qwen2-VL-7B-Instruct, vllm/llava-hf/llava-1.5-7b-hf, vllm/google/medgemma-1.5-4b-it,
# or openai-api/local/llava-med-v1.5-mistral-7b for any server that can load it. DATA is what `bedside run` takes; by
# default the authors' release.
#
# Published: BERTScore against the expert and the lay reference, delta, FKGL of the expert and the lay prompt
#   LLaVA-Med | 55.04 32.12 22.93 7.2 4.1
#   MedGemma 1.5 | 64.31 65.11 -0.80 13.6 6.5
#   LLaVA-v1.5 | 61.13 63.05 -1.92 4.8 5.0
#   Qwen2-VL | 63.05 65.28 -2.23 15.0 9.0
# The prompts are our own and the paper names no checkpoint, so that values differ; --prompts DIR takes other prompts.
# The run adds what the paper lacks: both prompts against one reference.
#
# Cost: 2,000 requests of an image, a short prompt and at most 64 tokens back; an answer that was paid for is kept.
# `bedside plan run captioning …` estimates it.
# BERTScore needs the extra `models` and `hf download microsoft/deberta-xlarge-mnli`: 4,000 pairs through 40 layers.
set -euo pipefail
model="${1:?name a chat model that sees images}"
data="${2:-official}"
bedside check "$model" --metric BERTScore
bedside run captioning "$data" --split test --model "$model" -o "runs/paper/captioning-${model##*/}"
bedside compare "runs/paper/captioning-${model##*/}"
