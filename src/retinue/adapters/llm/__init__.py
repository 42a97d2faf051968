"""Clients for every model provider behind one protocol, built on egress: one client per kind of API."""

from collections.abc import Callable
from urllib.parse import quote

from retinue.adapters.llm.anthropic import AnthropicClient
from retinue.adapters.llm.effort_levels import accepted_effort
from retinue.adapters.llm.errors import ModelError, ModelErrorKind, ModelTimeout, is_retryable
from retinue.adapters.llm.messages import (
    Audio,
    ChatRequest,
    ContentPart,
    Delta,
    Echo,
    Embeddings,
    FinishReason,
    ForcedTool,
    ImageData,
    ImageUrl,
    ModelInfo,
    ModelMessage,
    ModelReply,
    ModelUsage,
    PromptCache,
    ReasoningEffort,
    ReplyFinished,
    ResponseSchema,
    TextContent,
    TextDelta,
    ToolCall,
    ToolSpec,
    Transcription,
)
from retinue.adapters.llm.openai import OpenAiClient
from retinue.adapters.llm.profiles import PROFILES, ProviderProfile
from retinue.adapters.llm.provider import ModelProvider, ProviderAccess
from retinue.adapters.llm.response_schemas import with_format_note
from retinue.adapters.llm.transport import ModelTransport, Timeouts
from retinue.kit.clock import Clock
from retinue.kit.egress import Egress
from retinue.kit.errors import Invalid

__all__ = [
    "PROFILES",
    "Audio",
    "ChatRequest",
    "ContentPart",
    "Delta",
    "Echo",
    "Embeddings",
    "FinishReason",
    "ForcedTool",
    "ImageData",
    "ImageUrl",
    "ModelError",
    "ModelErrorKind",
    "ModelInfo",
    "ModelMessage",
    "ModelProvider",
    "ModelReply",
    "ModelTimeout",
    "ModelUsage",
    "PromptCache",
    "ProviderAccess",
    "ProviderProfile",
    "ReasoningEffort",
    "ReplyFinished",
    "ResponseSchema",
    "TextContent",
    "TextDelta",
    "Timeouts",
    "ToolCall",
    "ToolSpec",
    "Transcription",
    "accepted_effort",
    "is_retryable",
    "provider_for",
    "with_format_note",
]

_ANTHROPIC_VERSION = "2023-06-01"
_AZURE_API_VERSION = "2024-10-21"
_DEFAULT_TIMEOUTS = Timeouts()


def provider_for(
    egress: Egress, access: ProviderAccess, clock: Clock, *, timeouts: Timeouts = _DEFAULT_TIMEOUTS
) -> ModelProvider:
    """Return the client for a key. Creating one is cheap, and it holds no connection open."""
    profile = PROFILES.get(access.provider)
    if profile is None:
        raise Invalid({"provider": "is not a supported provider"})
    if profile.needs_key and not access.api_key:
        raise Invalid({"api_key": "is required for this provider"})
    headers = {"Anthropic-Version": _ANTHROPIC_VERSION} if profile.protocol == "anthropic" else {}
    transport = ModelTransport(
        egress, headers, (profile.key_header, profile.key_prefix), access.api_key, clock, timeouts
    )
    client = AnthropicClient if profile.protocol == "anthropic" else OpenAiClient
    return client(transport, access.provider, profile, _url_builder(access, profile))


def _url_builder(access: ProviderAccess, profile: ProviderProfile) -> Callable[[str, str], str]:
    """Return a function that builds the URL of an operation; Azure's paths name the model's deployment."""
    base = (access.base_url or profile.base_url or "").rstrip("/")
    if not base or "?" in base or "#" in base:
        raise Invalid({"base_url": "is required for this provider, and must be a URL without a query"})
    if not profile.has_deployments or base.endswith("/v1"):
        return lambda operation, _model: f"{base}/{operation}"
    root = base.removesuffix("/openai") + "/openai"
    version = quote(access.api_version or _AZURE_API_VERSION, safe="")

    def deployment_url(operation: str, model: str) -> str:
        path = f"deployments/{quote(model, safe='')}/{operation}" if model else operation
        return f"{root}/{path}?api-version={version}"

    return deployment_url
