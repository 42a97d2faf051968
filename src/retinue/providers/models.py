from enum import StrEnum
from typing import Annotated

from retinue.credentials.models import Credential
from retinue.kit.clock import Instant
from retinue.kit.crypto import Sealed
from retinue.kit.db.models import Ref, TenantRecord, table, unique_where


class ProviderName(StrEnum):
    openai = "openai"
    anthropic = "anthropic"
    google = "google"
    mistral = "mistral"
    groq = "groq"
    openrouter = "openrouter"
    azure_openai = "azure_openai"
    bedrock = "bedrock"
    ollama = "ollama"
    openai_compatible = "openai_compatible"
    local = "local"


@table(
    "provider_keys",
    prefix="pak",
    indexes=[("tenant_id", "provider", "priority"), ("tenant_id", "credential_id")],
    extra=unique_where("is_default", "tenant_id", "provider"),
    is_configuration=True,
)
class ProviderKey(TenantRecord, kw_only=True):
    """Access to one model provider: its own sealed key, or a credential of the vault.

    `key_destination` is the origin its own key was entered for (ADR 8). `models` limits what the key is used
    for; `found_models` are those the provider listed at the last test.
    """

    provider: ProviderName
    name: str
    api_key: Sealed | None = None
    credential_id: Annotated[str, Ref(Credential)] | None = None
    key_prefix: str = ""
    base_url: str | None = None
    key_destination: str = ""
    models: list[str] | None = None
    found_models: list[str]
    is_default: bool = False
    priority: int = 0
    is_active: bool = True
    is_valid: bool = True
    last_tested_at: Instant | None = None
    last_used_at: Instant | None = None
    monthly_budget_usd: float | None = None
    created_by: str
