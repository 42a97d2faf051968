from retinue.incoming import intake
from retinue.incoming import service as hooks
from retinue.incoming.errors import (
    IncomingSlugTaken,
    IncomingWebhookInactive,
    IncomingWebhookNotFound,
    PayloadQueueFull,
    ReceivedNotFound,
    SignatureRefused,
)
from retinue.incoming.loaders import IncomingWebhookById
from retinue.incoming.schemas import (
    IncomingWebhookCreate,
    IncomingWebhookList,
    IncomingWebhookOut,
    IncomingWebhookUpdate,
    Receipt,
    ReceivedList,
    ReceivedOut,
    Replayed,
)
from retinue.kit.context import Context
from retinue.kit.errors import Invalid, InvalidJson, PayloadTooLarge, RateLimited, VaultSealed
from retinue.kit.http.request import Request
from retinue.kit.http.routing import ANY_NAME, PUBLIC, Routes
from retinue.kit.lists import FlatPage

routes = Routes("/api/v1/incoming-webhooks", tag="incoming webhooks")
public = Routes("/webhooks/in", tag="incoming webhooks")


@routes.get("", requires="webhooks:read")
async def list_incoming_webhooks(ctx: Context, query: IncomingWebhookList) -> FlatPage[IncomingWebhookOut]:
    """Return the incoming webhooks of the tenant, by default newest first. Secrets are never included."""
    return await hooks.page(ctx, query)


@routes.post("", requires="webhooks:write", status=201, errors=(IncomingSlugTaken, VaultSealed))
async def create_incoming_webhook(ctx: Context, body: IncomingWebhookCreate) -> IncomingWebhookOut:
    """Create a public address that accepts JSON from other systems.

    If `workflow_id` is set, every payload starts that workflow.
    """
    return hooks.render_webhook(ctx, await hooks.create(ctx, body))


@routes.get("/{incoming_webhook_id}", requires="webhooks:read")
async def get_incoming_webhook(ctx: Context, hook: IncomingWebhookById) -> IncomingWebhookOut:
    """Return an incoming webhook. The secret of its verification is never included."""
    return hooks.render_webhook(ctx, hook)


@routes.put("/{incoming_webhook_id}", requires="webhooks:write", errors=(IncomingSlugTaken, VaultSealed))
async def update_incoming_webhook(
    ctx: Context, hook: IncomingWebhookById, body: IncomingWebhookUpdate
) -> IncomingWebhookOut:
    """Change the fields that are sent; null clears an optional one.

    A new `slug` changes the public address at once.
    """
    return hooks.render_webhook(ctx, await hooks.update(ctx, hook, body))


@routes.delete("/{incoming_webhook_id}", requires="webhooks:write", status=204)
async def delete_incoming_webhook(ctx: Context, hook: IncomingWebhookById) -> None:
    """Delete the address at once, and what it received shortly afterwards.

    No other tenant can take the slug for 90 days.
    """
    await hooks.delete(ctx, hook)


@routes.get("/{incoming_webhook_id}/events", requires="webhooks:read")
async def list_received_payloads(
    ctx: Context, hook: IncomingWebhookById, query: ReceivedList
) -> FlatPage[ReceivedOut]:
    """Return what the webhook received, newest first, including duplicates and replays.

    Entries are kept for 30 days.
    """
    return await hooks.page_of_received(ctx, hook, query)


@routes.get(
    "/{incoming_webhook_id}/events/{received_id}", requires="webhooks:read", errors=(ReceivedNotFound,)
)
async def get_received_payload(ctx: Context, hook: IncomingWebhookById, received_id: str) -> ReceivedOut:
    """Return one received payload in full, whatever its size."""
    return await hooks.show_received(ctx, hook, received_id)


@routes.post(
    "/{incoming_webhook_id}/events/{received_id}/replay",
    requires="webhooks:write",
    cost="execute",
    status=202,
    errors=(ReceivedNotFound, IncomingWebhookInactive),
)
async def replay_received_payload(ctx: Context, hook: IncomingWebhookById, received_id: str) -> Replayed:
    """Take a stored payload once more, as if it had just arrived.

    It is stored under a new id, emits an event and starts the workflow that is linked now. The signature is
    not checked again. An inactive webhook answers 409 `webhook_inactive`.
    """
    return await hooks.replay(ctx, hook, received_id)


@public.post(
    "/{slug}",
    requires=PUBLIC,
    cost="free",
    idempotent=False,
    calls_out=True,
    reads_body=True,
    query_names=ANY_NAME,
    errors=(
        IncomingWebhookNotFound,
        IncomingWebhookInactive,
        SignatureRefused,
        InvalidJson,
        Invalid,
        PayloadTooLarge,
        RateLimited,
        PayloadQueueFull,
        VaultSealed,
    ),
)
async def receive_webhook(ctx: Context, slug: str, request: Request) -> Receipt:
    """Accept a payload from another system.

    The body is any JSON value, whatever its `Content-Type`; an empty body is `null`.

    The payload is stored before the answer, and the linked workflow starts after it. A delivery that the
    webhook already has is answered with the ids of the first one. The limit is 600 requests a minute for
    each slug and IP address.
    """
    return await intake.receive(ctx, slug, request)
