"""OpenAI's protocol, which most providers and local servers speak too."""

from retinue.adapters.llm.openai.client import OpenAiClient

__all__ = ["OpenAiClient"]
