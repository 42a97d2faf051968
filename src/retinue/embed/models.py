from enum import StrEnum
from typing import Annotated

from retinue.agents.models import Agent
from retinue.kit.clock import Instant
from retinue.kit.crypto import Sealed
from retinue.kit.db.models import Ref, TenantRecord, table


class EmbedKeyStatus(StrEnum):
    active = "active"
    revoked = "revoked"


@table(
    "embed_keys",
    prefix="ek",
    unique=[("key_hash",)],
    indexes=[("tenant_id", "agent_id", "created_at"), ("previous_hash",)],
)
class EmbedKey(TenantRecord, kw_only=True):
    """A key with which pages and programs chat with one agent.

    Only its hash is stored; a key has 256 random bits, so the hash cannot be reversed. `previous_hash` is the
    key before the last rotation, valid until `previous_until`. Pages sign the ids of their users with
    `identity_secret`. `tokens_used` counts the tokens of `tokens_month`.
    """

    agent_id: Annotated[str, Ref(Agent, cascade=True)]
    name: str
    key_prefix: str
    key_hash: str
    previous_hash: str | None = None
    previous_until: Instant | None = None
    identity_secret: Sealed
    allowed_domains: list[str]
    status: EmbedKeyStatus = EmbedKeyStatus.active
    expires_at: Instant | None = None
    rate_limit_per_minute: int | None = None
    monthly_token_budget: int | None = None
    tokens_used: int = 0
    tokens_month: str = ""
    request_count: int = 0
    last_used_at: Instant | None = None
    revoked_at: Instant | None = None
    created_by: str
