"""The shapes of what connects a tenant to other systems, and of its budgets and documents."""

from retinue.kit.json_types import JsonObject
from retinue.kit.schema.derived import fields_of
from retinue.tenant_file.parts import Part, plain_values
from retinue.traces.schemas import TraceExporterCreate


class ChannelPart(Part, kw_only=True):
    """`config` holds what is not secret; `own_secrets` means that the secrets are entered in the tenant."""

    name: str | None = None
    type: str
    provider: str
    config: JsonObject = {}
    credential: str | None = None
    own_secrets: bool = False
    active: bool = True
    priority: int = 0


class WebhookPart(Part, kw_only=True):
    """`headers` are the names of custom headers; their values are secrets, as is what signs deliveries."""

    url: str
    events: list[str]
    description: str | None = None
    active: bool = True
    filters: JsonObject = {}
    headers: list[str] = []
    own_secrets: bool = False


class VerificationPart(Part, kw_only=True):
    type: str
    header: str | None = None


class IncomingWebhookPart(Part, kw_only=True):
    """An incoming webhook without its public address, which is generated anew in every tenant."""

    name: str | None = None
    description: str | None = None
    workflow: str | None = None
    active: bool = True
    verification: VerificationPart | None = None
    dedupe_header: str | None = None
    own_secrets: bool = False


class SubscriptionPart(Part, kw_only=True):
    """`headers` are the names of the headers in `action_config`, whose values are secrets."""

    event_type: str
    action_type: str
    action_config: JsonObject = {}
    headers: list[str] = []
    own_secrets: bool = False
    filters: JsonObject = {}
    active: bool = True


class ScopePart(Part, kw_only=True):
    type: str
    id: str | None = None


class BudgetPart(Part, kw_only=True):
    """Without `scope`, a budget is that of the whole tenant."""

    scope: ScopePart | None = None
    limit_usd: float | None = None
    limit_tokens: int | None = None
    period: str = "month"
    soft_percent: int = 80
    action: str = "block"
    on_unpriced: str | None = None


@fields_of(TraceExporterCreate, plain_values)
class TraceExporterPart(Part, kw_only=True):
    """`headers` are the names of headers; their values are secrets."""

    name: str | None = None
    endpoint: str
    headers: list[str] = []
    own_secrets: bool = False


class AgentDocumentPart(Part, kw_only=True):
    """A document of an agent by its name and the SHA-256 of its content, which is not in the file."""

    agent: str
    name: str
    sha256: str
    metadata: JsonObject = {}
    enabled: bool = True
