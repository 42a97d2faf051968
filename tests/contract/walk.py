"""Everything that somebody can read: each route of the table, with every id that its path can name."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from retinue.access.models import Role
from retinue.agents.models import Agent
from retinue.app import Service
from retinue.approvals.models import Approval
from retinue.chat.models import ChatJob, Conversation, Message
from retinue.events.models import Subscription
from retinue.forms.models import Form, Submission
from retinue.incoming.models import IncomingWebhook, ReceivedPayload
from retinue.kit.db.models import Record
from retinue.kit.events.models import EventEntry
from retinue.kit.http.replies import EventStream
from retinue.kit.http.routing import EMBED_KEY, PUBLIC, Route
from retinue.kit.tracing.models import TracePart
from retinue.notifications.models import Channel, ChannelType
from retinue.service_accounts.models import ServiceAccount
from retinue.tools.models import Tool, ToolExecution
from retinue.users.models import User
from retinue.webhooks.models import Webhook, WebhookDelivery
from retinue.workflows.models import Workflow, WorkflowExecution
from tests.client import Api
from tests.contract.routes import fill
from tests.factories.people import People

_IDS: dict[str, type[Record]] = {
    "agent_id": Agent,
    "approval_id": Approval,
    "channel_id": Channel,
    "conversation_id": Conversation,
    "delivery_id": WebhookDelivery,
    "event_id": EventEntry,
    "execution_id": ToolExecution,
    "form_id": Form,
    "incoming_webhook_id": IncomingWebhook,
    "job_id": ChatJob,
    "message_id": Message,
    "received_id": ReceivedPayload,
    "service_account_id": ServiceAccount,
    "submission_id": Submission,
    "subscription_id": Subscription,
    "tool_id": Tool,
    "user_id": User,
    "webhook_id": Webhook,
    "workflow_id": Workflow,
    "workflow_execution_id": WorkflowExecution,
}
# Parameters of things that have nothing to do with what is looked for, and that nobody makes for a walk.
ELSEWHERE = {
    "asset",
    "folder",
    "page",
    "avatar_id",
    "credential_id",
    "document_id",
    "exporter_id",
    "field_id",
    "file_id",
    "form_conversation_id",
    "form_file_id",
    "form_slug",
    "import_id",
    "stream_id",
    "key_id",
    "page_slug",
    "progress_id",
    "row_id",
    "secret_id",
    "table_id",
    "trace_id",
    "token",
}
FIRST_EVENTS = range(8)

Walk = dict[str, dict[str, bytes]]


@dataclass
class Walked:
    """A tenant that is walked through: its `people` by what they are called, and all there is by its kind."""

    service: Service
    people: dict[str, Api]
    ids: dict[str, list[str]]


def read_routes(world: Walked) -> list[Route]:
    """Every route that somebody with a role reads."""
    found = [route for route in world.service.instance.registry.routes if route.method == "GET"]
    return [route for route in found if route.requires not in {PUBLIC, EMBED_KEY}]


def paths_of(world: Walked, route: Route) -> list[str]:
    if ELSEWHERE & set(route.parameters):
        return []
    unknown = set(route.parameters) - world.ids.keys()
    assert not unknown, f"tell this module what {unknown} can be, or that nobody looks for anything there"
    return [fill(route.path, values) for values in combinations(route.parameters, world.ids)]


async def read(caller: Api, route: Route, path: str) -> bytes | None:
    """Return the body that the caller gets there; a stream is read from several of its events on."""
    if route.returns is not EventStream or route.name == "resume_chat_stream":
        answer = await caller.get(path, query={"per_page": 100})
        return answer.body if answer.status == 200 else None
    heard = b""
    for number in FIRST_EVENTS:
        answer = await caller.get(path, headers={"Last-Event-ID": str(number)})
        if answer.status != 200:
            return None
        heard += answer.body
    return heard


async def walk(caller: Api, routes: dict[Route, list[str]]) -> Walk:
    """Return all that the caller can read, by the name of the route and the path."""
    found: Walk = defaultdict(dict)
    for route, paths in routes.items():
        for path in paths:
            body = await read(caller, route, path)
            if body is not None:
                found[route.name][path] = body
    return found


def find_canary(walked: Walk, canary: str) -> set[tuple[str, str]]:
    return {
        (name, path)
        for name, some in walked.items()
        for path, body in some.items()
        if canary.encode() in body
    }


async def known_ids(people: People, tenant_id: str) -> dict[str, list[str]]:
    async with people.context(tenant_id) as ctx:
        found = {name: [one.id for one in await ctx.db.all(record)] for name, record in _IDS.items()}
        events = await ctx.db.all(EventEntry)
        parts = await ctx.db.all(TracePart)
    return found | {
        "trace_id": sorted({part.trace_id for part in parts}),
        "correlation_id": sorted({event.correlation_id for event in events}),
        "channel_type": [ChannelType.webhook.value],
        "event_type": ["agent.chat.message"],
        "role": [Role.viewer.value],
        "tenant_id": [tenant_id],
        "version": ["1", "2", "3"],
    }


def combinations(parameters: Iterable[str], ids: dict[str, list[str]]) -> list[dict[str, str]]:
    """Every way to fill the parameters of a path in."""
    found: list[dict[str, str]] = [{}]
    for name in parameters:
        found = [{**some, name: id} for some in found for id in ids[name]]
    return found
