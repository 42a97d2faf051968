"""What a large tenant holds on its second day: thousands of members and of executions of one tool."""

from datetime import UTC, datetime, timedelta

import msgspec

from bench.retrieval import context
from retinue.access.models import Role
from retinue.kit.clock import to_instant
from retinue.kit.context.instance import Instance
from retinue.tools.models import (
    AuthType,
    ExecutionSource,
    ExecutionStatus,
    Tool,
    ToolExecution,
    ToolType,
)
from retinue.users.models import User

MEMBERS, EXECUTIONS = 5_000, 10_000
_FIRST_NAMES = ("Ada", "Ben", "Cleo", "Dan", "Eva", "Finn", "Grace", "Hugo")
_LAST_NAMES = ("Archer", "Baker", "Carter", "Dyer", "Fuller", "Glover", "Mason")
_ROLES = (Role.agent_user, Role.viewer, Role.agent_developer)
_INPUT = msgspec.json.encode({"endpoint": "get_order", "order_id": "10472"}).decode()
_OUTPUT = msgspec.json.encode({"order": {"id": "10472", "items": ["Lamp", "Bulb"] * 20}}).decode()
_ERROR = msgspec.json.encode({"code": "http_503", "message": "The server answered with status 503."}).decode()
_FAILED_EVERY = 25


async def add_members(instance: Instance, tenant_id: str) -> None:
    """Accounts with names that a search finds many of; none of them can sign in."""
    async with context(instance, tenant_id) as ctx:
        await ctx.db.insert_many(
            User(
                email=f"member{number:04d}@example.org",
                password_hash="",
                first_name=_FIRST_NAMES[number % len(_FIRST_NAMES)],
                last_name=_LAST_NAMES[number // len(_FIRST_NAMES) % len(_LAST_NAMES)],
                role=_ROLES[number % len(_ROLES)],
                email_verified=True,
            )
            for number in range(MEMBERS)
        )


async def add_tool(instance: Instance, tenant_id: str, user_id: str) -> str:
    """Return the id of a tool with executions of the last two weeks."""
    begin = datetime.now(UTC) - timedelta(days=14)
    tool = Tool(
        name="Orders",
        slug="orders",
        category="custom",
        tool_type=ToolType.rest_api,
        config={"base_url": "https://api.example.com", "endpoints": {}},
        auth_type=AuthType.none,
        pinned_packages=[],
        created_by=user_id,
    )
    async with context(instance, tenant_id) as ctx:
        await ctx.db.insert(tool)
        await ctx.db.insert_many(
            _execution(tool.id, user_id, number, begin + timedelta(minutes=2 * number))
            for number in range(EXECUTIONS)
        )
    return tool.id


def _execution(tool_id: str, user_id: str, number: int, at: datetime) -> ToolExecution:
    has_failed = number % _FAILED_EVERY == 0
    return ToolExecution(
        tool_id=tool_id,
        user_id=user_id,
        source=ExecutionSource.api,
        status=ExecutionStatus.failed if has_failed else ExecutionStatus.completed,
        input=_INPUT,
        output=None if has_failed else _OUTPUT,
        error=_ERROR if has_failed else None,
        execution_time_ms=40 + number % 400,
        executed_at=to_instant(at),
    )
