"""Models of every provider behind one protocol: thin clients over the egress, one for each kind of API."""

from collections.abc import Callable
from urllib.parse import quote

from retinue.adapters.llm.anthropic import AnthropicClient
from retinue.adapters.llm.errors import Kind, ModelError, ModelTimeout, is_retryable
from retinue.adapters.llm.messages import (
    Audio,
    ChatReply,
    ChatRequest,
    Delta,
    Done,
    Echo,
    Embeddings,
    FinishReason,
    ForcedTool,
    ImageData,
    ImageUrl,
    JsonSchema,
    Message,
    ModelInfo,
    Part,
    TextDelta,
    TextPart,
    ToolCall,
    ToolSpec,
    Transcription,
    Usage,
)
from retinue.adapters.llm.openai import OpenAiClient
from retinue.adapters.llm.profiles import PROFILES, Profile
from retinue.adapters.llm.provider import Provider, ProviderAccess
from retinue.adapters.llm.wire import Timeouts, Wire
from retinue.kit.egress import Egress
from retinue.kit.errors import Invalid

__all__ = [
    "PROFILES",
    "Audio",
    "ChatReply",
    "ChatRequest",
    "Delta",
    "Done",
    "Echo",
    "Embeddings",
    "FinishReason",
    "ForcedTool",
    "ImageData",
    "ImageUrl",
    "JsonSchema",
    "Kind",
    "Message",
    "ModelError",
    "ModelInfo",
    "ModelTimeout",
    "Part",
    "Profile",
    "Provider",
    "ProviderAccess",
    "TextDelta",
    "TextPart",
    "Timeouts",
    "ToolCall",
    "ToolSpec",
    "Transcription",
    "Usage",
    "is_retryable",
    "provider_for",
]

_ANTHROPIC_VERSION = "2023-06-01"
_AZURE_API_VERSION = "2024-10-21"
_DEFAULT_TIMEOUTS = Timeouts()


def provider_for(
    egress: Egress, access: ProviderAccess, *, timeouts: Timeouts = _DEFAULT_TIMEOUTS
) -> Provider:
    """The client for a key; it is cheap to make and holds nothing open."""
    profile = PROFILES.get(access.provider)
    if profile is None:
        raise Invalid({"provider": "has no client"})
    if profile.needs_key and not access.api_key:
        raise Invalid({"api_key": "is required for this provider"})
    headers = {"Anthropic-Version": _ANTHROPIC_VERSION} if profile.protocol == "anthropic" else {}
    wire = Wire(egress, headers, (profile.key_header, profile.key_prefix), access.api_key, timeouts)
    client = AnthropicClient if profile.protocol == "anthropic" else OpenAiClient
    return client(wire, access.provider, profile, _addressing(access, profile))


def _addressing(access: ProviderAccess, profile: Profile) -> Callable[[str, str], str]:
    """The URL of each operation, for a model where the path names it."""
    base = (access.base_url or profile.base_url or "").rstrip("/")
    if not base or "?" in base or "#" in base:
        raise Invalid({"base_url": "must be a URL without query, and is required for this provider"})
    if not profile.has_deployments or base.endswith("/v1"):
        return lambda operation, _model: f"{base}/{operation}"
    root = base.removesuffix("/openai") + "/openai"
    version = quote(access.api_version or _AZURE_API_VERSION, safe="")

    def of_deployment(operation: str, model: str) -> str:
        place = f"deployments/{quote(model, safe='')}/{operation}" if model else operation
        return f"{root}/{place}?api-version={version}"

    return of_deployment
