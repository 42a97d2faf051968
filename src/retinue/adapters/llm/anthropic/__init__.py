"""Anthropic's Messages protocol."""

from retinue.adapters.llm.anthropic.client import AnthropicClient

__all__ = ["AnthropicClient"]
