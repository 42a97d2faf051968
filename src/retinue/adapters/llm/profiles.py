"""Addresses of the providers and how each deviates from the protocol it uses."""

import re
from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

_OPENAI_REASONING = re.compile(r"o\d|gpt-(?:[5-9]|1\d)(?!.*-chat)")
# Claude accepts sampling parameters up to version 4.6 and rejects them since.
_CLAUDE_WITHOUT_SAMPLING = re.compile(
    r"claude-(?!\d|instant)(?!(?:opus|sonnet|haiku)-4(?:-[0-6])?(?:-20\d{6}|-latest)?$)"
)


class ProviderProfile(Struct, frozen=True, kw_only=True):
    """`base_url` is None if the key's owner must set it; `refuses_sampling` matches the models that do."""

    protocol: Literal["openai", "anthropic"] = "openai"
    base_url: str | None = None
    key_header: str = "Authorization"
    key_prefix: str = "Bearer "
    needs_key: bool = True
    limit_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    has_stream_options: bool = True
    has_deployments: bool = False
    has_cache_key: bool = False
    has_images_in_results: bool = False
    model_prefix: str = ""
    tool_id_shape: re.Pattern[str] = re.compile(r"[\w.:-]{1,40}", re.ASCII)
    refuses_sampling: re.Pattern[str] | None = None


PROFILES: Mapping[str, ProviderProfile] = {
    "openai": ProviderProfile(
        base_url="https://api.openai.com/v1",
        limit_field="max_completion_tokens",
        has_cache_key=True,
        refuses_sampling=_OPENAI_REASONING,
    ),
    "anthropic": ProviderProfile(
        protocol="anthropic",
        base_url="https://api.anthropic.com/v1",
        key_header="X-Api-Key",
        key_prefix="",
        tool_id_shape=re.compile(r"[\w-]{1,64}", re.ASCII),
        refuses_sampling=_CLAUDE_WITHOUT_SAMPLING,
    ),
    "google": ProviderProfile(
        base_url="https://generativelanguage.googleapis.com/v1beta/openai", model_prefix="models/"
    ),
    "mistral": ProviderProfile(
        base_url="https://api.mistral.ai/v1",
        has_stream_options=False,
        has_images_in_results=True,
        tool_id_shape=re.compile(r"[a-zA-Z0-9]{9}"),
    ),
    "groq": ProviderProfile(base_url="https://api.groq.com/openai/v1", limit_field="max_completion_tokens"),
    "openrouter": ProviderProfile(base_url="https://openrouter.ai/api/v1"),
    "azure_openai": ProviderProfile(
        key_header="Api-Key",
        key_prefix="",
        limit_field="max_completion_tokens",
        has_deployments=True,
        has_cache_key=True,
        refuses_sampling=_OPENAI_REASONING,
    ),
    "bedrock": ProviderProfile(limit_field="max_completion_tokens"),
    "ollama": ProviderProfile(base_url="http://localhost:11434/v1", needs_key=False),
    "openai_compatible": ProviderProfile(needs_key=False),
}
