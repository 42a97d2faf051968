"""One record for every sealed column there is, with a secret that the caller chooses."""

from collections.abc import Awaitable, Callable

from retinue.adapters.mail.mail_queue import OutgoingMail
from retinue.agents.models import Agent, LogSettings, WebSearch
from retinue.auth.models import MfaDevice
from retinue.embed.models import EmbedKey
from retinue.events.models import ActionType, SignedMessage, SigningSecret, Subscription
from retinue.incoming.models import IncomingWebhook
from retinue.kit.context import Context
from retinue.kit.crypto import Sealed
from retinue.kit.db.models import Record
from retinue.kit.http.idempotency import IdempotencyKey
from retinue.kit.ids import new_id
from retinue.kit.vault import InstanceKey, KeyPurpose, KeyState
from retinue.kit.vault.rewrap import sealed_columns
from retinue.notifications.models import Channel
from retinue.providers.models import ProviderKey
from retinue.tools.models import AuthType, Tool, ToolType
from tests.factories.audit_streams import some_stream
from tests.factories.credentials import some_credential
from tests.factories.people import People
from tests.factories.traces import some_exporter
from tests.factories.webhooks import some_webhook

LONG_AGO = "2001-01-01T00:00:00.000000Z"

Maker = Callable[[Context, str, Sealed], Awaitable[Record]]


async def _mail(ctx: Context, _user_id: str, secret: Sealed) -> Record:
    return await ctx.db.insert(OutgoingMail(content=secret))


async def _answer(ctx: Context, _user_id: str, secret: Sealed) -> Record:
    return await ctx.db.insert(
        IdempotencyKey(
            id=new_id("idk"),
            request_hash="x",
            lease_until=ctx.now,
            expires_at=ctx.now,
            status=200,
            body=secret,
        )
    )


async def _device(ctx: Context, user_id: str, secret: Sealed) -> Record:
    return await ctx.db.insert(MfaDevice(user_id=user_id, name="phone", secret=secret))


async def _instance_key(ctx: Context, _user_id: str, secret: Sealed) -> Record:
    key = InstanceKey(purpose=KeyPurpose.signing, secret=secret, state=KeyState.old, retire_at=LONG_AGO)
    return await ctx.system("test").insert(key)


async def _credential(ctx: Context, user_id: str, secret: Sealed) -> Record:
    return await ctx.db.insert(some_credential(user_id, secrets=secret))


async def _provider_key(ctx: Context, user_id: str, secret: Sealed) -> Record:
    return await ctx.db.insert(
        ProviderKey(provider="openai", name="Key", api_key=secret, found_models=[], created_by=user_id)
    )


async def _tool(ctx: Context, user_id: str, secret: Sealed) -> Record:
    tool = Tool(
        name="Tool",
        slug=new_id("slug"),
        category="custom",
        tool_type=ToolType.rest_api,
        config={},
        auth_type=AuthType.bearer,
        auth_config=secret,
        pinned_packages=[],
        created_by=user_id,
    )
    return await ctx.db.insert(tool)


async def _embed_key(ctx: Context, user_id: str, secret: Sealed) -> Record:
    agent = await ctx.db.insert(
        Agent(
            name="Agent",
            primary_model="m",
            fallback_models=[],
            system_prompt="",
            web_search=WebSearch(),
            log_settings=LogSettings(),
            created_by=user_id,
        )
    )
    return await ctx.db.insert(
        EmbedKey(
            agent_id=agent.id,
            name="Key",
            key_prefix="emb_",
            key_hash=new_id("hash"),
            identity_secret=secret,
            allowed_domains=[],
            created_by=user_id,
        )
    )


async def _incoming_webhook(ctx: Context, user_id: str, secret: Sealed) -> Record:
    return await ctx.db.insert(
        IncomingWebhook(name="Hook", slug=new_id("slug"), secret=secret, created_by=user_id)
    )


async def _channel(ctx: Context, user_id: str, secret: Sealed) -> Record:
    given = {"type": "email", "provider": "smtp", "config": {}, "secret_keys": ["password"]}
    return await ctx.db.insert(Channel(name="Channel", secrets=secret, created_by=user_id, **given))


async def _subscription(ctx: Context, user_id: str, secret: Sealed) -> Record:
    return await ctx.db.insert(
        Subscription(
            event_type="order.placed",
            action_type=ActionType.webhook,
            action_config={},
            header_values=secret,
            filters={},
            created_by=user_id,
        )
    )


async def _signing_secret(ctx: Context, _user_id: str, secret: Sealed) -> Record:
    return await ctx.db.insert(SigningSecret(secrets=secret))


async def _signed_message(ctx: Context, _user_id: str, secret: Sealed) -> Record:
    return await ctx.db.insert(
        SignedMessage(url="https://example.com", content=secret, event_id="evt_1", event_type="order.placed")
    )


async def _webhook(ctx: Context, user_id: str, secret: Sealed) -> Record:
    return await ctx.db.insert(some_webhook(user_id, secrets=secret, header_values=secret))


async def _audit_stream(ctx: Context, user_id: str, secret: Sealed) -> Record:
    return await ctx.db.insert(some_stream(user_id, secret=secret, header_values=secret))


async def _trace_exporter(ctx: Context, user_id: str, secret: Sealed) -> Record:
    return await ctx.db.insert(some_exporter(user_id, header_values=secret))


MAKERS: dict[tuple[str, str], Maker] = {
    ("outgoing_mails", "content"): _mail,
    ("idempotency_keys", "body"): _answer,
    ("mfa_devices", "secret"): _device,
    ("instance_keys", "secret"): _instance_key,
    ("credentials", "secrets"): _credential,
    ("provider_keys", "api_key"): _provider_key,
    ("tools", "auth_config"): _tool,
    ("embed_keys", "identity_secret"): _embed_key,
    ("event_subscriptions", "header_values"): _subscription,
    ("signing_secrets", "secrets"): _signing_secret,
    ("signed_messages", "content"): _signed_message,
    ("notification_channels", "secrets"): _channel,
    ("incoming_webhooks", "secret"): _incoming_webhook,
    ("webhooks", "secrets"): _webhook,
    ("webhooks", "header_values"): _webhook,
    ("audit_streams", "secret"): _audit_stream,
    ("audit_streams", "header_values"): _audit_stream,
    ("trace_exporters", "header_values"): _trace_exporter,
}


def secret_of(record: Record) -> Sealed:
    """Return the record's sealed value; all sealed fields of a record have the same secret here."""
    field, *_ = type(record).__shape__.sealed
    found = getattr(record, field)
    assert isinstance(found, Sealed)
    return found


def sealed_values(record: Record) -> int:
    """Return the number of sealed values of a record."""
    return sum(getattr(record, field) is not None for field in type(record).__shape__.sealed)


async def plant(people: People, secret_for: Callable[[str], str]) -> list[tuple[Record, str]]:
    """Store a record for each sealed column; its secret is `secret_for(table)`."""
    columns = {(column.table.name, column.field) for column in sealed_columns()}
    assert columns == set(MAKERS), "a new sealed column needs a maker here"
    user = await people.user()
    planted = []
    async with people.context(user.tenant_id) as ctx:
        for (table, _), make in MAKERS.items():
            secret = secret_for(table)
            planted.append((await make(ctx, user.id, Sealed.of(secret)), secret))
    return planted


async def reread(people: People, record: Record) -> str:
    """Return the secret as the data layer reads it now."""
    async with people.context() as ctx:
        found = await ctx.system("test").get(type(record), record.id)
        assert found is not None
        return secret_of(found).text(ctx.instance.ring)
