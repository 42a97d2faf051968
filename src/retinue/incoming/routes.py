from retinue.incoming import receiving
from retinue.incoming import service as hooks
from retinue.incoming.errors import (
    IncomingSlugTaken,
    IncomingWebhookInactive,
    IncomingWebhookNotFound,
    ReceivedNotFound,
    SignatureRefused,
    TooMuchWaiting,
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
from retinue.kit.http.routing import PUBLIC, Routes
from retinue.kit.lists import FlatPage

routes = Routes("/api/v1/incoming-webhooks", tag="incoming webhooks")
public = Routes("/webhooks/in", tag="incoming webhooks")


@routes.get("", requires="webhooks:read")
async def list_incoming_webhooks(ctx: Context, query: IncomingWebhookList) -> FlatPage[IncomingWebhookOut]:
    return await hooks.page(ctx, query)


@routes.post("", requires="webhooks:write", status=201, errors=(IncomingSlugTaken, VaultSealed))
async def create_incoming_webhook(ctx: Context, body: IncomingWebhookCreate) -> IncomingWebhookOut:
    return hooks.shown(ctx, await hooks.create(ctx, body))


@routes.get("/{incoming_webhook_id}", requires="webhooks:read")
async def get_incoming_webhook(ctx: Context, hook: IncomingWebhookById) -> IncomingWebhookOut:
    return hooks.shown(ctx, hook)


@routes.put("/{incoming_webhook_id}", requires="webhooks:write", errors=(IncomingSlugTaken, VaultSealed))
async def update_incoming_webhook(
    ctx: Context, hook: IncomingWebhookById, body: IncomingWebhookUpdate
) -> IncomingWebhookOut:
    return hooks.shown(ctx, await hooks.change(ctx, hook, body))


@routes.delete("/{incoming_webhook_id}", requires="webhooks:write", status=204)
async def delete_incoming_webhook(ctx: Context, hook: IncomingWebhookById) -> None:
    await hooks.remove(ctx, hook)


@routes.get("/{incoming_webhook_id}/events", requires="webhooks:read")
async def list_received_payloads(
    ctx: Context, hook: IncomingWebhookById, query: ReceivedList
) -> FlatPage[ReceivedOut]:
    return await hooks.page_of_received(ctx, hook, query)


@routes.get(
    "/{incoming_webhook_id}/events/{received_id}", requires="webhooks:read", errors=(ReceivedNotFound,)
)
async def get_received_payload(ctx: Context, hook: IncomingWebhookById, received_id: str) -> ReceivedOut:
    return await hooks.show_received(ctx, hook, received_id)


@routes.post(
    "/{incoming_webhook_id}/events/{received_id}/replay",
    requires="webhooks:write",
    cost="execute",
    status=202,
    errors=(ReceivedNotFound, IncomingWebhookInactive),
)
async def replay_received_payload(ctx: Context, hook: IncomingWebhookById, received_id: str) -> Replayed:
    return await hooks.replay(ctx, hook, received_id)


@public.post(
    "/{slug}",
    requires=PUBLIC,
    cost="free",
    idempotent=False,
    calls_out=True,
    errors=(
        IncomingWebhookNotFound,
        IncomingWebhookInactive,
        SignatureRefused,
        InvalidJson,
        Invalid,
        PayloadTooLarge,
        RateLimited,
        TooMuchWaiting,
        VaultSealed,
    ),
)
async def receive_webhook(ctx: Context, slug: str, request: Request) -> Receipt:
    """The body is any JSON value, whatever its `Content-Type`, and nothing at all is `null`.

    Its limit is 600 requests a minute for each slug and address; what is taken is stored before the answer,
    and a linked workflow is started after it. A delivery that the webhook has already is answered with the
    first one's ids.
    """
    return await receiving.receive(ctx, slug, request)
