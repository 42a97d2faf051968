"""An agent with a tool that needs an approval, the people who talk to it, and the approvers."""

from collections import defaultdict, deque
from dataclasses import dataclass
from typing import Any

from retinue.app import Service
from retinue.approvals.jobs import expire_approvals
from retinue.chat.models import PausedTurn
from retinue.kit.clock import ManualClock
from tests.adapters.llm_replies import Call, Reply
from tests.adapters.llm_server import ProviderServer
from tests.chat.speaking import messages_of, path_of, reply_to
from tests.client import Api, Response
from tests.factories.agents import attach_agent, attach_tool, make_agent
from tests.factories.people import People
from tests.tools.servers.rest_api import RestApi

Json = dict[str, Any]
LOOK_AT_GRAZ = Call("weather", '{"city": "Graz"}', "call_1")
THREE_DAYS_S = 72 * 3600


@dataclass(frozen=True)
class Desk:
    """`tool` is the guarded tool of `agent`, and calls `remote`; approvers may change the `city`."""

    service: Service
    admin: Api
    people: People
    agent: Json
    tool: Json
    provider: ProviderServer
    remote: RestApi

    async def ask(self, api: Api | None = None, message: str = "Hello", **more: Any) -> Json:
        return await reply_to(api or self.admin, self.agent, message, **more)

    async def accept(self) -> Json:
        """Start a turn in the background and run it as far as it goes without a decision."""
        answer = await self.admin.post(path_of(self.agent, "/async"), {"message": "Do it"})
        assert answer.status == 202, answer
        await self.work()
        return answer.json()

    async def job(self, accepted: Json) -> Json:
        return (await self.admin.get(path_of(self.agent, f"/jobs/{accepted['job_id']}"))).json()

    async def approve(self, approval_id: str, by: Api | None = None, **body: Any) -> Response:
        return await (by or self.admin).post(f"/api/v1/approvals/{approval_id}/approve", body)

    async def reject(self, approval_id: str, **body: Any) -> Response:
        return await self.admin.post(f"/api/v1/approvals/{approval_id}/reject", body)

    async def approval(self, approval_id: str) -> Json:
        answer = await self.admin.get(f"/api/v1/approvals/{approval_id}")
        assert answer.status == 200, answer
        return answer.json()["data"]

    async def work(self) -> None:
        """Let everything happen that is due."""
        await self.service.runner.drain()

    async def approve_all(self, reply: Json) -> Json:
        """Approve everything that a reply waits for; return the reply after that."""
        for approval_id in questions_of(reply["tool_calls"]):
            assert (await self.approve(approval_id)).status == 200
        await self.work()
        return await self.last_message(reply)

    async def let_time_pass(self, clock: ManualClock) -> None:
        """Let enough time pass for all approvals to expire."""
        clock.advance(THREE_DAYS_S + 60)
        async with self.people.context() as ctx:
            await expire_approvals(ctx.detached())
        await self.work()

    async def last_message(self, reply: Json, api: Api | None = None) -> Json:
        return (await messages_of(api or self.admin, reply["conversation_id"]))[-1]

    async def paused(self) -> list[PausedTurn]:
        async with self.people.context(self.admin.user.tenant_id) as ctx:
            return await ctx.db.all(PausedTurn)


class Cast:
    """Sub-agents; what the models of all agents say, each its own lines, and what they were told.

    Agents that work at the same time ask in any order, so it is the prompt that says whose turn it is.
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._lines: defaultdict[str, deque[Reply]] = defaultdict(deque)
        desk.provider.otherwise = self._next_line

    async def hire(self, name: str, *, under: Json | None = None, tools: tuple[Json, ...] = ()) -> Json:
        """A sub-agent of the agent, or of another one, with tools of its own."""
        admin, model = self._desk.admin, self._desk.agent["primary_model"]
        agent = await make_agent(admin, name=name, system_prompt=f"You are {name}.", primary_model=model)
        await attach_agent(admin, under or self._desk.agent, agent)
        for tool in tools:
            await attach_tool(admin, agent, tool)
        return agent

    def says(self, agent: Json, text: str = "", *calls: Call, **rest: Any) -> None:
        self._lines[agent["system_prompt"]].append(Reply(text, calls, **rest))

    def requests_of(self, agent: Json) -> list[Json]:
        """Return the requests to the model of this agent."""
        return [
            one.json for one in self._desk.provider.requests if _prompt(one.json) == agent["system_prompt"]
        ]

    def told(self, agent: Json) -> str:
        """Return the last message that the model of this agent read."""
        return str(self.requests_of(agent)[-1]["messages"][-1]["content"])

    def _next_line(self, heard: str) -> Reply:
        prompt = _prompt(self._desk.provider.last.json)
        assert self._lines[prompt], f"{prompt} has nothing to say to {heard}"
        return self._lines[prompt].popleft()


def _prompt(asked: Json) -> str:
    return str(asked["messages"][0]["content"]).partition("\n")[0]


def delegation(agent: Json, id: str, task: str = "Look") -> Call:
    name = agent["name"].lower().replace(" ", "_")
    return Call(f"delegate_to_{name}", f'{{"task": "{task}"}}', id)


def questions_of(tool_calls: list[Json]) -> list[str]:
    """The approvals that a reply waits for."""
    waiting = (call for call in tool_calls if call["status"] == "awaiting_approval")
    return [call["approval_id"] for call in waiting if call["approval_id"] is not None]


def call_statuses(tool_calls: list[Json]) -> list[tuple[str, str]]:
    """Return the id and the status of each tool call, in their order."""
    return [(call["id"], call["status"]) for call in tool_calls]
