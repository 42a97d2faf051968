"""Deliveries of this tenant's own webhooks and subscriptions into its own incoming webhooks.

Such a payload is an event of the tenant, and quotes the conversations that the event quotes (ADR 21): what is
left out of the event for a reader must not appear in the payload. The sender cannot gain by naming an event:
that only leaves more out.
"""

from typing import Any

from retinue.incoming.request_content import RequestHeaders
from retinue.kit.context import Context
from retinue.kit.conversation_ids import UNNAMED_CONVERSATIONS, conversation_ids_or_none
from retinue.kit.events.conversation_quotes import may_quote, quoted_conversation_ids
from retinue.kit.events.models import EventEntry
from retinue.kit.http.routing import is_plausible_id

EVENT_ID_HEADER = "X-Service-Event-Id"


async def quoted_conversations(ctx: Context, headers: RequestHeaders, payload: Any) -> list[str] | None:
    """Return the conversations that a received payload quotes; None if it is no event of this tenant."""
    # A relay may drop the header; the body names the event as well.
    named = {headers.single(EVENT_ID_HEADER) or "", _field(payload, "id")}
    found: list[EventEntry] = []
    for event_id in sorted(named):
        if event_id.startswith(f"{EventEntry.__prefix__}_") and is_plausible_id(event_id):
            event = await ctx.db.get(EventEntry, event_id)
            found += [event] if event is not None else []
    if found:
        return conversation_ids_or_none(*map(quoted_conversation_ids, found))
    # The event was purged before its last delivery, so the conversations that it quotes are unknown.
    is_own = _field(payload, "tenant_id") == ctx.tenant_id
    return [UNNAMED_CONVERSATIONS] if is_own and may_quote(_field(payload, "type")) else None


def _field(payload: Any, name: str) -> str:
    value = payload.get(name) if isinstance(payload, dict) else None
    return value if isinstance(value, str) else ""
