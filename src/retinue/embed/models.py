from enum import StrEnum
from typing import Annotated

from retinue.agents.models import Agent
from retinue.files.models import File
from retinue.kit.clock import Instant
from retinue.kit.crypto import Sealed
from retinue.kit.db.models import Ref, ServerDefault, TenantRecord, table


class EmbedKeyStatus(StrEnum):
    active = "active"
    revoked = "revoked"


@table(
    "embed_keys",
    prefix="ek",
    unique=[("key_hash",)],
    indexes=[("tenant_id", "agent_id", "created_at"), ("previous_hash",), ("page_hash",)],
)
class EmbedKey(TenantRecord, kw_only=True):
    """A key with which pages and programs chat with one agent.

    Only its hash is stored; a key has 256 random bits, so the hash cannot be reversed. `previous_hash` is the
    key before the last rotation, valid until `previous_until`. Pages sign the ids of their users with
    `identity_secret`. `tokens_used` counts the tokens of `tokens_month`. `page_hash` is that of what the
    agent's hosted page sends in place of the key, as long as everybody may chat there.
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
    allow_attachments: Annotated[bool, ServerDefault("false")] = False
    rate_limit_per_visitor: int | None = None
    page_hash: str | None = None


@table(
    "visitor_files",
    prefix="vfl",
    unique=[("tenant_id", "file_id")],
    indexes=[("tenant_id", "session_hash", "created_at")],
)
class VisitorFile(TenantRecord, kw_only=True):
    """A file that a visitor uploaded, which only messages of the same session can attach."""

    key_id: Annotated[str, Ref(EmbedKey, cascade=True)]
    session_hash: str
    file_id: Annotated[str, Ref(File, cascade=True)]


class WidgetScheme(StrEnum):
    auto = "auto"
    light = "light"
    dark = "dark"


class WidgetPosition(StrEnum):
    right = "right"
    left = "left"


@table("widget_designs", prefix="wdg", unique=[("tenant_id", "agent_id")])
class WidgetDesign(TenantRecord, kw_only=True):
    """How the chat widget of an agent looks; None leaves the widget's own text or colour."""

    agent_id: Annotated[str, Ref(Agent, cascade=True)]
    title: str | None = None
    greeting: str | None = None
    placeholder: str | None = None
    accent: str | None = None
    on_accent: str | None = None
    scheme: WidgetScheme = WidgetScheme.auto
    position: WidgetPosition = WidgetPosition.right
    suggestions: list[str]
    show_sources: Annotated[bool, ServerDefault("true")] = True
    second_accent: str | None = None
    lead: str | None = None
    logo_url: str | None = None
    contact_url: str | None = None
    privacy_url: str | None = None
    imprint_url: str | None = None


@table(
    "widget_installations",
    prefix="win",
    unique=[("tenant_id", "key_id", "origin")],
    indexes=[("tenant_id", "agent_id", "seen_at")],
)
class WidgetInstallation(TenantRecord, kw_only=True):
    """An origin whose pages have loaded the widget with a key, or that the key refused.

    `seen_at` is exact to 10 minutes.
    """

    agent_id: str
    key_id: Annotated[str, Ref(EmbedKey, cascade=True)]
    origin: str
    seen_at: Instant
    is_refused: Annotated[bool, ServerDefault("false")] = False
