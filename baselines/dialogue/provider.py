"""The provider `scripted/...` for inspect_ai: names with which `--model-role` assigns scripted agents to roles.

The task of a game recognises such a name and asks the agent itself, which knows its case. Asked as a plain model, only
agents that need no case answer (`loaders.models.scripted_chat`); the others say so. setup.cfg registers the provider
as an entry point.
"""

from __future__ import annotations

from typing import Any

from inspect_ai.model import GenerateConfig, ModelAPI, ModelOutput, modelapi

from loaders.models.chat import open_model
from loaders.models.messages import Message


@modelapi(name="scripted")
class ScriptedProvider(ModelAPI):  # type: ignore[misc]
    """A scripted agent by its name."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig | None = None,
        **model_args: Any,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config or GenerateConfig())

    async def generate(self, input: list[Any], tools: Any, tool_choice: Any, config: GenerateConfig) -> ModelOutput:
        """The answer of a scripted model that needs no case. Raises ModelError for any other name."""
        model = open_model(f"scripted/{self.model_name}")
        messages = [Message(message.role, message.text) for message in input if message.role != "tool"]
        answer = await model.ask(messages, temperature=0, max_tokens=config.max_tokens or 512)
        return ModelOutput.from_content(f"scripted/{self.model_name}", answer.text)
