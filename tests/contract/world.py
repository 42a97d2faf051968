"""Some of everything that a path can name, so that routes are called with ids that are really there."""

from collections.abc import Collection
from io import BytesIO
from urllib.parse import parse_qsl, urlsplit

from PIL import Image

from retinue.access.models import Role
from retinue.auth.models import Session
from retinue.kit.http.routing import Route
from retinue.kit.ids import new_id
from retinue.tools.models import AuthType, ExecutionStatus, Tool, ToolExecution, ToolType
from retinue.users.models import Invitation
from tests.client import Api
from tests.contract.agent_world import some_household
from tests.contract.chat_world import some_talk
from tests.factories.approvals import some_approval, some_link
from tests.factories.budgets import some_budget
from tests.factories.credentials import some_credential, some_rule
from tests.factories.embed_keys import some_embed_key
from tests.factories.forms import SESSION, some_form
from tests.factories.incoming import some_incoming_webhook, some_received
from tests.factories.notifications import some_channel, some_notification
from tests.factories.people import People
from tests.factories.providers import some_key
from tests.factories.subscriptions import some_event, some_subscription
from tests.factories.tables import some_table
from tests.factories.webhooks import some_delivery, some_webhook
from tests.factories.workflows import some_workflow

FAR = "2999-01-01T00:00:00.000000Z"
SEVERAL = 4
_ABOUT_AGENTS = {"agent_id", "conversation_id", "embed_key_id", "job_id"}


def picture() -> bytes:
    content = BytesIO()
    Image.new("RGB", (8, 8), (200, 30, 30)).save(content, "PNG")
    return content.getvalue()


# What a route takes that does not take pictures, by its name.
UPLOADS: dict[str, tuple[str, bytes, str]] = {
    "train_agent": ("a.txt", b"Opening hours", "text/plain"),
    "import_table_rows": ("a.csv", b"title\nFirst\n", "text/csv"),
}


# What must stand beside the file.
TEXTS = {"upload_public_file": {"field_id": "paper"}}


def an_upload(route: Route) -> dict[str, tuple[str, bytes, str]]:
    """A file of the right kind in each field of an upload."""
    file = UPLOADS.get(route.name, ("a.png", picture(), "image/png"))
    return dict.fromkeys(route.upload.fields if route.upload else (), file)


def embed_key_of(agent_id: str) -> str:
    """The text of the key that opens an agent of this world."""
    return f"emb_{agent_id}"


async def upload_avatar(person: Api) -> str:
    answer = await person.post("/api/v1/profile/avatar", files={"avatar": ("a.png", picture(), "image/png")})
    assert answer.status == 200, answer
    return answer.json()["avatar_url"].rpartition("/")[2]


async def upload_file(person: Api) -> str:
    answer = await person.post("/api/v1/files", files={"file": ("a.txt", b"x", "text/plain")})
    assert answer.status == 201, answer
    return str(answer.json()["data"]["file_id"])


async def signed_query(person: Api, file_id: str) -> dict[str, str]:
    """What an address of a shared file carries."""
    answer = await person.post(f"/api/v1/files/{file_id}/url")
    return dict(parse_qsl(urlsplit(answer.json()["data"]["url"]).query))


def some_tool(person: Api, number: int = 0) -> Tool:
    """A tool that calls nothing, because it is not configured."""
    return Tool(
        name=f"Tool {number}",
        slug=new_id("tool").replace("_", "-"),
        category="custom",
        tool_type=ToolType.rest_api,
        config={},
        auth_type=AuthType.none,
        pinned_packages=[],
        created_by=person.user.id,
    )


def some_execution(tool: Tool) -> ToolExecution:
    return ToolExecution(
        tool_id=tool.id, status=ExecutionStatus.completed, input="{}", output="null", executed_at=FAR
    )


async def known_ids(people: People, admin: Api, wanted: Collection[str]) -> dict[str, list[str]]:
    """Ids by the name of their path parameter: what the administrator owns, and people of another tenant."""
    avatars = [await upload_avatar(admin)] if "avatar_id" in wanted else []
    files = [await upload_file(admin)] if "file_id" in wanted else []
    tenant = await people.tenant("Other")
    users = [await people.user(Role.viewer, tenant) for _ in range(SEVERAL)]
    me = admin.user
    async with people.context(me.tenant_id) as ctx:
        sessions = [
            await ctx.db.insert(Session(user_id=me.id, expires_at=FAR, last_used_at=FAR))
            for _ in range(SEVERAL)
        ]
        invitations = [
            await ctx.db.insert(
                Invitation(
                    email=f"guest{number}.{tenant.id}@example.com",
                    role=Role.viewer,
                    token_hash=f"{number} of {tenant.id}",
                    invited_by=me.id,
                    expires_at=FAR,
                )
            )
            for number in range(SEVERAL)
        ]
        tools = [await ctx.db.insert(some_tool(admin, number)) for number in range(SEVERAL)]
        executions = [await ctx.db.insert(some_execution(tool)) for tool in tools]
        households = (
            [await some_household(ctx, tool) for tool in tools] if _ABOUT_AGENTS & set(wanted) else []
        )
        embed_keys = [
            await ctx.db.insert(some_embed_key(one.agent, me.id, text=embed_key_of(one.agent.id)))
            for one in households
        ]
        talks = [await some_talk(ctx, one.agent, me.id) for one in households]
        credentials = [await ctx.db.insert(some_credential(me.id, f"Key {n}")) for n in range(SEVERAL)]
        rules = [await ctx.db.insert(some_rule(credential)) for credential in credentials]
        keys = [await ctx.db.insert(some_key(me.id, f"Key {n}")) for n in range(SEVERAL)]
        events = [await ctx.db.insert(some_event()) for _ in range(SEVERAL)]
        subscriptions = [await ctx.db.insert(some_subscription(me.id)) for _ in range(SEVERAL)]
        hooks = [await ctx.db.insert(some_incoming_webhook(me.id)) for _ in range(SEVERAL)]
        received = [await ctx.db.insert(some_received(hook)) for hook in hooks]
        webhooks = [await ctx.db.insert(some_webhook(me.id)) for _ in range(SEVERAL)]
        deliveries = [await some_delivery(ctx, webhook, new_id("evt")) for webhook in webhooks]
        channels = [await ctx.db.insert(some_channel(me.id, f"Channel {n}")) for n in range(SEVERAL)]
        is_busy = "import_id" in wanted
        tables = [await some_table(ctx, me.id, f"Table {n}", is_busy=is_busy) for n in range(SEVERAL)]
        told = [await some_notification(ctx, me.id) for _ in range(SEVERAL)]
        open_run = {"status": "waiting", "started_at": FAR}
        workflows = [await some_workflow(ctx, me.id, **open_run) for _ in range(SEVERAL)]
        approvals = [await some_approval(ctx, users[0].id, me.id) for _ in range(SEVERAL)]
        budgets = [await ctx.db.insert(some_budget(me.id)) for _ in range(SEVERAL)]
        tokens = [await some_link(ctx, approval, me) for approval in approvals]
        forms = [await some_form(ctx, me.id, f"Form {n}") for n in range(SEVERAL)]
    return {
        **{name: [getattr(one, name) for one in forms] for name in forms[0]._fields},
        "progress_id": [SESSION] * SEVERAL,
        "approval_id": [approval.id for approval in approvals],
        "budget_id": [budget.id for budget in budgets],
        "token": tokens,
        "table_id": [one.table_id for one in tables],
        "column_id": [one.column_id for one in tables],
        "row_id": [one.row_id for one in tables],
        "import_id": [one.import_id for one in tables],
        "channel_id": [channel.id for channel in channels],
        "channel_type": ["email"],
        "notification_id": [one.id for one in told],
        "credential_id": [credential.id for credential in credentials],
        "access_id": [rule.id for rule in rules],
        "key_id": [key.id for key in keys],
        "incoming_webhook_id": [hook.id for hook in hooks],
        "slug": [hook.slug for hook in hooks],
        "received_id": [one.id for one in received],
        "webhook_id": [webhook.id for webhook in webhooks],
        "delivery_id": [delivery.id for delivery in deliveries],
        "tool_id": [tool.id for tool in tools],
        "agent_id": [one.agent.id for one in households],
        "embed_key_id": [key.id for key in embed_keys],
        "version": ["1"] * SEVERAL,
        "sub_agent_id": [one.sub_agent.id for one in households],
        "document_id": [one.document.id for one in households],
        "conversation_id": [talk.conversation.id for talk in talks],
        "message_id": [talk.reply.id for talk in talks],
        "job_id": [talk.job.id for talk in talks],
        "execution_id": [execution.id for execution in executions],
        "user_id": [user.id for user in users],
        "session_id": [session.id for session in sessions],
        "invitation_id": [invitation.id for invitation in invitations],
        "tenant_id": [tenant.id],
        "avatar_id": avatars,
        "file_id": files,
        "event_id": [event.id for event in events],
        "event_type": ["agent.created" for _ in events],
        "correlation_id": [event.correlation_id for event in events],
        "subscription_id": [subscription.id for subscription in subscriptions],
        "workflow_id": [one.workflow_id for one in workflows],
        "workflow_execution_id": [one.workflow_execution_id for one in workflows],
        "schedule_id": [one.schedule_id for one in workflows],
        "role": [role.value for role in Role],
        "asset": ["reference.js", "reference.css"],
    }
