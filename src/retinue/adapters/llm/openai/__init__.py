"""The OpenAI protocol, which most providers and local servers support."""

from retinue.adapters.llm.openai.client import OpenAiClient

__all__ = ["OpenAiClient"]
