from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from retinue.adapters.embedded.models import LocalKind
from retinue.adapters.llm.catalogue import ModelKind
from retinue.kit.lists import ListQuery
from retinue.kit.schema.base import Name, Schema
from retinue.kit.schema.messages import PatternMessage
from retinue.providers.models import ProviderName
from retinue.usage.models import PriceSource

MAX_MODEL_NAME_LENGTH = 200

# Whitespace is spelled out because regex dialects differ; a line break would end a header.
_WORD = r"^[^\s\x00-\x1f\x7f\x85\ufeff]+$(?!\n)"
_ONE_WORD = PatternMessage("must not contain spaces")
ApiKeyText = Annotated[str, Meta(min_length=1, max_length=4096, pattern=_WORD), _ONE_WORD]
BaseUrl = Annotated[str, Meta(min_length=1, max_length=2048)]
CredentialId = Annotated[str, Meta(min_length=1, max_length=64)]
ModelName = Annotated[str, Meta(min_length=1, max_length=MAX_MODEL_NAME_LENGTH, pattern=_WORD), _ONE_WORD]
ModelNames = Annotated[list[ModelName], Meta(max_length=500)]
Priority = Annotated[int, Meta(ge=0, le=1_000_000)]
MonthlyBudget = Annotated[float, Meta(ge=0, le=1_000_000_000)]


class ApiKeyOut(Schema, kw_only=True):
    """`key_prefix` is the displayable part of the key; empty if there is none."""

    id: str
    provider: ProviderName
    name: str
    key_prefix: str
    base_url: str | None
    models: list[str] | None
    is_default: bool
    priority: int
    is_active: bool
    is_valid: bool
    last_tested_at: str | None
    last_used_at: str | None
    monthly_budget_usd: float | None
    created_at: str
    updated_at: str


class ApiKeyCreate(Schema, kw_only=True):
    """Provide the key itself or a credential that holds it; the name defaults to the provider."""

    provider: ProviderName
    name: Name | None = None
    api_key: ApiKeyText | None = None
    credential_id: CredentialId | None = None
    base_url: BaseUrl | None = None
    models: ModelNames | None = None
    is_default: bool = False
    priority: Priority = 0
    is_active: bool = True
    monthly_budget_usd: MonthlyBudget | None = None


class ApiKeyUpdate(Schema, kw_only=True):
    """A new key or credential replaces the existing one of either kind; null removes it."""

    provider: ProviderName | UnsetType = UNSET
    name: Name | UnsetType = UNSET
    api_key: ApiKeyText | UnsetType | None = UNSET
    credential_id: CredentialId | UnsetType | None = UNSET
    base_url: BaseUrl | UnsetType | None = UNSET
    models: ModelNames | UnsetType | None = UNSET
    is_default: bool | UnsetType = UNSET
    priority: Priority | UnsetType = UNSET
    is_active: bool | UnsetType = UNSET
    monthly_budget_usd: MonthlyBudget | UnsetType | None = UNSET


class ApiKeyList(ListQuery, kw_only=True):
    provider: ProviderName | None = None
    is_active: bool | None = None


class ApiKeyDelete(Schema, kw_only=True):
    force: bool = False


class ApiKeyTest(Schema, kw_only=True):
    """Result of a key test; `models` are those the key may use."""

    success: bool
    message: str
    latency_ms: int
    models: list[str]


class ModelOut(Schema, kw_only=True):
    """Unknown properties of a model are null; `reason` says why it is unavailable.

    With `found_server`, a server on this machine offers it: a key with its `provider` and `base_url`, and no
    secret, makes it usable.
    """

    id: str
    provider: ProviderName
    name: str
    kind: ModelKind
    context_window: int | None
    supports_tools: bool | None
    supports_streaming: bool | None
    supports_vision: bool | None
    input_price_per_mtok: float | None
    cached_input_price_per_mtok: float | None
    cache_write_price_per_mtok: float | None
    output_price_per_mtok: float | None
    source: PriceSource | None
    available: bool
    reason: str | None
    base_url: str | None


class ModelList(Schema, kw_only=True):
    data: list[ModelOut]


class EmbeddedModelOut(Schema, kw_only=True):
    """A model that runs inside the server; `reason` says why it is unavailable."""

    id: str
    name: str
    kind: LocalKind
    context_window: int | None
    is_demo: bool
    available: bool
    reason: str | None


class FoundServerOut(Schema, kw_only=True):
    """A model server on this machine. A key with `provider` and `base_url`, and no secret, connects it."""

    provider: ProviderName
    base_url: str
    models: list[str]
    api_key_id: str | None


class ModelProbe(Schema, kw_only=True):
    embedded: list[EmbeddedModelOut]
    is_searched: bool
    servers: list[FoundServerOut]
