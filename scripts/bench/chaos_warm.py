"""Loaded before a command is forked off: imports, and the table of models that inspect_ai reads once."""

from importlib import import_module

NAMES = """
scripts.build scripts.curate scripts.publish scripts.run.captioning scripts.run.consultation scripts.run.confirmation
scripts.run.intervention scripts.run.play baselines.dialogue.evaluation builders.curation.output builders.publish.run
datasets huggingface_hub inspect_ai inspect_ai.scorer inspect_ai.solver inspect_ai.agent._acp.server openai nltk
pyarrow.dataset PIL.Image PIL.JpegImagePlugin scripts.bench.chaos_jobs
"""

for name in NAMES.split():
    import_module(name)
import_module("inspect_ai.model").get_model_info("openai/gpt-4o")
