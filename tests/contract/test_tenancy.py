"""Another tenant's id, anywhere in any path, is answered exactly as an id that nobody has."""

from typing import Any

import pytest

from retinue.access.models import Role
from retinue.auth.models import MfaDevice, Session
from retinue.files.models import File
from retinue.kit.crypto import Sealed
from retinue.kit.http.routing import EMBED_KEY, Route
from retinue.tools.models import AuthType, ExecutionStatus, Tool, ToolExecution, ToolType
from retinue.users.models import Invitation
from tests.client import Api
from tests.contract.agent_world import some_agent, some_household
from tests.contract.chat_world import some_talk
from tests.contract.routes import ABSENT, WITH_PARAMETERS, call, groups, label
from tests.factories.approvals import some_approval
from tests.factories.budgets import some_budget
from tests.factories.credentials import some_credential, some_rule
from tests.factories.embed_keys import some_embed_key
from tests.factories.forms import some_form
from tests.factories.incoming import some_incoming_webhook, some_received
from tests.factories.notifications import some_channel, some_notification
from tests.factories.people import People
from tests.factories.providers import some_key
from tests.factories.subscriptions import some_event, some_subscription
from tests.factories.tables import some_table
from tests.factories.webhooks import some_delivery, some_webhook
from tests.factories.workflows import some_workflow

pytestmark = pytest.mark.every_case

# Parameters that name no tenant's object.
SHARED = {
    "asset",
    "role",
    "avatar_id",
    "tenant_id",
    "channel_type",
    "slug",
    "form_slug",
    # Public below a slug, and of that form only: tests/forms/test_conversation_life.py.
    "form_conversation_id",
    "field_id",
    "progress_id",
    "event_type",
    "correlation_id",
    "token",
}
# Where any id will do: nobody's has nothing. tests/events shows that another tenant's has nothing either.
ANY_ID = {"trace_events", "activate_subscriptions", "deactivate_subscriptions"}


@pytest.fixture
async def foreign(people) -> dict[str, str]:
    """An id of each kind that belongs to another tenant; every text of it is a canary."""
    tenant = await people.tenant("CANARY-other")
    user = await people.user(Role.tenant_admin, tenant, first_name="CANARY-name")
    far = "2999-01-01T00:00:00.000000Z"
    async with people.context(tenant.id) as ctx:
        session = await ctx.db.insert(Session(user_id=user.id, expires_at=far, last_used_at=far))
        device = await ctx.db.insert(
            MfaDevice(user_id=user.id, name="CANARY-device", secret=Sealed.of("S"), is_active=True)
        )
        invitation = await ctx.db.insert(
            Invitation(
                email="canary@example.com",
                role=Role.viewer,
                token_hash="h",
                invited_by=user.id,
                expires_at=far,
            )
        )
        tool = await ctx.db.insert(
            Tool(
                name="CANARY-tool",
                slug="canary",
                category="custom",
                tool_type=ToolType.rest_api,
                config={"base_url": "https://canary.example.com"},
                auth_type=AuthType.none,
                pinned_packages=[],
                created_by=user.id,
            )
        )
        execution = await ctx.db.insert(
            ToolExecution(
                tool_id=tool.id, status=ExecutionStatus.completed, input='"CANARY"', executed_at=far
            )
        )
        household = await some_household(ctx, tool, "CANARY-agent")
        embed_key = await ctx.db.insert(some_embed_key(household.agent, user.id, "CANARY-key"))
        talk = await some_talk(ctx, household.agent, user.id, "CANARY-talk")
        credential = await ctx.db.insert(some_credential(user.id, "CANARY-key"))
        rule = await ctx.db.insert(some_rule(credential))
        key = await ctx.db.insert(some_key(user.id, "CANARY-key"))
        hook = await ctx.db.insert(some_incoming_webhook(user.id, "CANARY-hook"))
        received = await ctx.db.insert(some_received(hook, '"CANARY"'))
        webhook = await ctx.db.insert(some_webhook(user.id, "https://canary.example.com/CANARY"))
        delivery = await some_delivery(ctx, webhook, "evt_canary")
        channel = await ctx.db.insert(some_channel(user.id, "CANARY-channel"))
        notification = await some_notification(ctx, user.id, "CANARY-notification")
        event = await ctx.db.insert(some_event("CANARY"))
        budget = await ctx.db.insert(some_budget("CANARY"))
        subscription = await ctx.db.insert(some_subscription(user.id, "canary.CANARY"))
        table = await some_table(ctx, user.id, "CANARY-table")
        form = await some_form(ctx, user.id, "CANARY-form")
        workflow = await some_workflow(ctx, user.id, "CANARY-workflow")
        approval = await some_approval(ctx, user.id, user.id, title="CANARY-approval")
        file = await ctx.db.insert(
            File(filename="CANARY", mime_type="text/plain", size_bytes=1, sha256="x", purpose="tool")
        )
    return {
        **table._asdict(),
        **form._asdict(),
        **workflow._asdict(),
        "approval_id": approval.id,
        "event_id": event.id,
        "budget_id": budget.id,
        "subscription_id": subscription.id,
        "user_id": user.id,
        "session_id": session.id,
        "device_id": device.id,
        "invitation_id": invitation.id,
        "file_id": file.id,
        "credential_id": credential.id,
        "access_id": rule.id,
        "key_id": key.id,
        "channel_id": channel.id,
        "notification_id": notification.id,
        "incoming_webhook_id": hook.id,
        "received_id": received.id,
        "webhook_id": webhook.id,
        "delivery_id": delivery.id,
        "tool_id": tool.id,
        "agent_id": household.agent.id,
        "embed_key_id": embed_key.id,
        "version": "1",
        "sub_agent_id": household.sub_agent.id,
        "document_id": household.document.id,
        "conversation_id": talk.conversation.id,
        "message_id": talk.reply.id,
        "job_id": talk.job.id,
        "execution_id": execution.id,
    }


async def caller_of(people: People, route: Route) -> Api:
    """Someone of another tenant who may call the route."""
    person = await people.signed_in(Role.tenant_admin, await people.tenant("Mine"))
    if route.requires is not EMBED_KEY:
        return person
    async with people.context(person.user.tenant_id) as ctx:
        own = await some_agent(ctx)
        await ctx.db.insert(some_embed_key(own, person.user.id, text="emb_mine"))
    return people.api.signed_in("emb_mine")


def comparable(answer: Any) -> tuple[int, bytes]:
    return answer.status, answer.body


@groups([r for r in WITH_PARAMETERS if not set(r.parameters) <= SHARED and r.name not in ANY_ID], 20)
async def test_another_tenants_id_is_simply_not_there(people, foreign, routes: list[Route]) -> None:
    for route in routes:
        for parameter in route.parameters:
            assert parameter in foreign or parameter in SHARED, (
                f"tell this test how to make a foreign {parameter}"
            )
        caller = await caller_of(people, route)
        body = {"role": "viewer"} if route.body is not None else None
        theirs = await call(caller, route, foreign, json=body)
        nobodys = await call(caller, route, json=body)
        assert theirs.status == 404, label(route)
        assert comparable(theirs) == comparable(nobodys), label(route)
        assert b"CANARY" not in theirs.body, label(route)


ODD_IDS = ("..", "%2e%2e", "%00", "x" * 10_000, ABSENT.upper(), "a%2fb", "%F0%9F%92%A9", "'--", "*")


@groups(WITH_PARAMETERS, 20)
async def test_odd_ids_are_not_found_and_break_nothing(people, admin, routes: list[Route]) -> None:
    for route in routes:
        caller = admin if route.requires is not EMBED_KEY else await caller_of(people, route)
        body = {"role": "viewer", "permissions": []} if route.body is not None else None
        for odd in ODD_IDS:
            answer = await call(caller, route, dict.fromkeys(route.parameters, odd), json=body)
            # What is none of a few known words is not valid, where an id that nobody has is not found.
            expected = {404, 422} if "channel_type" in route.parameters else {404}
            expected = {200, 404} if route.name in ANY_ID else expected
            assert answer.status in expected, (label(route), odd, answer)
