#!/usr/bin/env bash
# Tables 5 and A4 and Figure A4 (ii): retrieval with the captions of the pipeline's parts (Section 4.4, Appendix E).
#
#   scripts/reproduce/medlaybench_v/table_5_a4.sh [MODEL]
#
# Builds a release a condition with the chat MODEL (by default the paper's, served by vLLM on this machine), ranks each,
# and puts the four conditions side by side.
#
# Published
#   LLM Only | mean of the 8 models 1.96; BiomedCLIP 3.96
#   LLM + CUI | mean of the 8 models 2.08; BiomedCLIP 4.00
#   SCGR (Ours) | mean of the 8 models 11.26; BiomedCLIP 29.30
#   Expert | mean of the 8 models 11.44; BiomedCLIP 29.71
# The jump from the second to the third is not expected to come back: it cannot come from the concepts alone, as most
# rows have no other than their modality. Here the conditions differ by blocks of one prompt and by nothing else.
#
# Cost: a request a row for `llm` and for `llm+cui`, and up to three for `scgr`, which tries again, of at most 160
# tokens back: 79,793 rows, less those whose licence forbids it. For each encoder the images once, and all captions.
set -euo pipefail
model="${1:-vllm/meta-llama/Llama-3.1-8B-Instruct}"
encoders=(OpenAI-CLIP-Base CoCa-Large LAION-2B OpenCLIP-Huge PubMedCLIP BMC-CLIP PMC-CLIP BiomedCLIP)
bedside check "$model" "${encoders[@]/#/--encoder=}"
build() {
  bedside build medlaybench-v --captions eltorio/ROCOv2-radiology --model "$model" --condition "$1" --out "runs/$2"
}
rank() {
  bedside run retrieval "runs/$1" --split test --method "$2" -o "runs/paper/$1" "${encoders[@]/#/--model=}"
}
build llm llm
build llm+cui llm-cui
build scgr scgr
rank llm "LLM Only"
rank llm-cui "LLM + CUI"
rank scgr "SCGR (Ours)"
bedside run ablation runs/paper/llm runs/paper/llm-cui runs/paper/scgr -o runs/paper/ablation
bedside compare runs/paper/ablation
