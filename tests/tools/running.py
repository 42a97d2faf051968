"""Tools made and run through the API, for tests that care about what the tool does."""

from typing import Any

from retinue.kit.ids import new_id
from retinue.tools.models import AuthType, PackagesStatus, Tool, ToolType
from tests.client import Api
from tests.factories.people import People
from tests.factories.tools import make_tool, run_tool, try_tool


class Tools:
    """Creates and runs tools as one person."""

    def __init__(self, api: Api, people: People) -> None:
        self._api = api
        self._people = people
        self.tenant_id: str = api.user.tenant_id

    async def make(self, tool_type: str, config: dict[str, Any], **more: Any) -> dict[str, Any]:
        return await make_tool(self._api, tool_type=tool_type, config=config, **more)

    async def make_unchecked(self, tool_type: str, config: dict[str, Any], **more: Any) -> dict[str, Any]:
        """A tool as an older version, or an override, could have left it: saving would refuse it."""
        tool = Tool(
            name="Unchecked",
            slug=new_id("slug"),
            category="custom",
            tool_type=ToolType(tool_type),
            config=config,
            auth_type=AuthType.none,
            packages_status=PackagesStatus(more.pop("packages_status", "none")),
            pinned_packages=[],
            created_by="",
            **more,
        )
        async with self._people.context(self.tenant_id) as ctx:
            return {"id": (await ctx.db.insert(tool)).id}

    async def execute(self, tool: dict[str, Any], input: Any = None) -> dict[str, Any]:
        """Run a tool; return the execution."""
        return await run_tool(self._api, tool, input)

    async def run(
        self, tool_type: str, config: dict[str, Any], input: Any = None, **more: Any
    ) -> dict[str, Any]:
        """Make a tool and run it once."""
        return await self.execute(await self.make(tool_type, config, **more), input)

    async def refused(
        self, tool_type: str, config: dict[str, Any], input: Any = None, **more: Any
    ) -> dict[str, str]:
        """Run a tool with invalid input; return the details of the error."""
        answer = await try_tool(self._api, await self.make(tool_type, config, **more), input)
        assert (answer.status, answer.code) == (422, "validation_error"), answer
        return answer.details

    async def credential(self, type: str, secrets: dict[str, Any], **more: Any) -> str:
        body = {"name": "A login", "type": type, "secrets": secrets, **more}
        answer = await self._api.post("/v1/credentials", body)
        assert answer.status == 201, answer
        return answer.json()["data"]["id"]
