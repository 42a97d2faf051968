"""Some of everything that a path can name, so that routes are called with ids that are really there."""

from collections.abc import Collection
from io import BytesIO

from PIL import Image

from retinue.access.models import Role
from retinue.auth.models import Session
from retinue.kit.ids import new_id
from retinue.tools.models import AuthType, ExecutionStatus, Tool, ToolExecution, ToolType
from retinue.users.models import Invitation
from tests.client import Api
from tests.factories.credentials import some_credential, some_rule
from tests.factories.people import People
from tests.factories.providers import some_key

FAR = "2999-01-01T00:00:00.000000Z"
SEVERAL = 4


def picture() -> bytes:
    content = BytesIO()
    Image.new("RGB", (8, 8), (200, 30, 30)).save(content, "PNG")
    return content.getvalue()


async def upload_avatar(person: Api) -> str:
    answer = await person.post("/api/v1/profile/avatar", files={"avatar": ("a.png", picture(), "image/png")})
    assert answer.status == 200, answer
    return answer.json()["avatar_url"].rpartition("/")[2]


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
    avatars = [await upload_avatar(admin)] if "file_id" in wanted else []
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
        credentials = [await ctx.db.insert(some_credential(me.id, f"Key {n}")) for n in range(SEVERAL)]
        rules = [await ctx.db.insert(some_rule(credential)) for credential in credentials]
        keys = [await ctx.db.insert(some_key(me.id, f"Key {n}")) for n in range(SEVERAL)]
    return {
        "credential_id": [credential.id for credential in credentials],
        "access_id": [rule.id for rule in rules],
        "key_id": [key.id for key in keys],
        "tool_id": [tool.id for tool in tools],
        "execution_id": [execution.id for execution in executions],
        "user_id": [user.id for user in users],
        "session_id": [session.id for session in sessions],
        "invitation_id": [invitation.id for invitation in invitations],
        "tenant_id": [tenant.id],
        "file_id": avatars,
        "role": [role.value for role in Role],
        "asset": ["reference.js", "reference.css"],
    }
