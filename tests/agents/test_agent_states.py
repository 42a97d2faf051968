"""B7: whatever happens to agents in whatever order, they are what a small model of them says."""

import copy
import random
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.client import Api, Response
from tests.factories.agents import (
    agent_body,
    read_agent,
    try_to_attach_agent,
    try_to_attach_tool,
    versions_of,
)
from tests.factories.tools import make_tool

NEXT = {"draft": {"published", "archived"}, "published": {"draft", "archived"}, "archived": {"draft"}}
DEEPEST = 5


@dataclass
class Known:
    """The expected state of an agent; `history` has the content of each of its versions."""

    name: str
    status: str = "draft"
    tools: dict[str, bool] = field(default_factory=dict)
    subs: dict[str, str] = field(default_factory=dict)
    history: list["Known"] = field(default_factory=list)

    def keep(self) -> None:
        kept = copy.deepcopy({name: value for name, value in vars(self).items() if name != "history"})
        self.history.append(Known(**kept))


class World:
    def __init__(self, api: Api, seed: int) -> None:
        self.api = api
        self.random = random.Random(seed)
        self.agents: dict[str, Known] = {}
        self.tools: set[str] = set()
        self.deleted: list[str] = []

    def any_agent(self) -> str:
        return self.random.choice([*self.agents])

    async def step(self) -> None:
        makers = [self.create, self.make_tool]
        others = [
            self.rename,
            self.move,
            self.delete,
            self.attach_tool,
            self.switch_tool,
            self.delete_tool,
            self.attach_agent,
            self.attach_agent,
            self.add_direct,
            self.remove_sub,
            self.restore,
            self.look_at_the_dead,
        ]
        few = len(self.agents) < 3 or not self.tools
        await self.random.choice(makers if few else [*makers, *others])()

    async def create(self) -> None:
        name = f"Agent {self.random.random()}"
        answer = await self.api.post("/api/v1/agents", agent_body(name=name))
        assert answer.status == 201, answer
        known = self.agents[answer.json()["id"]] = Known(name)
        known.keep()

    async def make_tool(self) -> None:
        self.tools.add((await make_tool(self.api))["id"])

    async def rename(self) -> None:
        id = self.any_agent()
        name = self.random.choice([self.agents[id].name, "Another name", "A third one"])
        answer = await self.api.put(f"/api/v1/agents/{id}", {"name": name})
        assert answer.status == 200, answer
        self._changed(id, is_changed=name != self.agents[id].name, name=name)

    async def move(self) -> None:
        id = self.any_agent()
        before, after = self.agents[id].status, self.random.choice([*NEXT])
        answer = await self.api.put(f"/api/v1/agents/{id}", {"status": after})
        if after != before and after not in NEXT[before]:
            assert (answer.status, answer.code) == (409, "invalid_transition")
            return
        assert answer.status == 200, answer
        self._changed(id, is_changed=after != before, status=after)

    async def delete(self) -> None:
        id = self.any_agent()
        assert (await self.api.delete(f"/api/v1/agents/{id}")).status == 204
        del self.agents[id]
        self.deleted.append(id)
        for known in self.agents.values():
            if known.subs.pop(id, None):
                known.keep()

    async def attach_tool(self) -> None:
        id, tool = self.any_agent(), self.random.choice(sorted(self.tools))
        answer = await try_to_attach_tool(self.api, {"id": id}, {"id": tool})
        if self._expect(answer, 201, "already_attached", tool in self.agents[id].tools):
            self.agents[id].tools[tool] = True
            self.agents[id].keep()

    async def switch_tool(self) -> None:
        id = self.any_agent()
        tools = self.agents[id].tools
        if not tools:
            return
        tool, is_enabled = self.random.choice(sorted(tools)), self.random.random() < 0.5
        if self.random.random() < 0.3:
            assert (await self.api.delete(f"/v1/agents/{id}/tools/{tool}")).status == 204
            del tools[tool]
            self.agents[id].keep()
            return
        answer = await self.api.patch(f"/v1/agents/{id}/tools/{tool}", {"is_enabled": is_enabled})
        assert answer.status == 200, answer
        if tools[tool] != is_enabled:
            tools[tool] = is_enabled
            self.agents[id].keep()

    async def delete_tool(self) -> None:
        tool = self.random.choice(sorted(self.tools))
        assert (await self.api.delete(f"/v1/tools/{tool}")).status == 204
        self.tools.remove(tool)
        for known in self.agents.values():
            if known.tools.pop(tool, None) is not None:
                known.keep()

    async def attach_agent(self) -> None:
        upper, lower = self.any_agent(), self.any_agent()
        answer = await try_to_attach_agent(self.api, {"id": upper}, {"id": lower})
        if lower in self.agents[upper].subs:
            self._expect(answer, 201, "already_attached", refused=True)
        elif problem := self._problem(upper, lower):
            self._expect(answer, 201, problem, refused=True)
        else:
            assert answer.status == 201, answer
            self.agents[upper].subs[lower] = "template"
            self.agents[upper].keep()

    async def add_direct(self) -> None:
        id = self.any_agent()
        answer = await self.api.post(f"/api/v1/agents/{id}/sub-agents/direct", agent_body())
        if self._expect(answer, 201, "sub_agents_too_deep", self._height(id, up=True) + 1 > DEEPEST):
            self.agents[id].subs[answer.json()["id"]] = "direct"
            self.agents[id].keep()

    async def remove_sub(self) -> None:
        id = self.any_agent()
        subs = self.agents[id].subs
        if subs:
            sub = self.random.choice(sorted(subs))
            assert (await self.api.delete(f"/api/v1/agents/{id}/sub-agents/{sub}")).status == 204
            if subs.pop(sub) == "direct":
                self.deleted.append(sub)
            self.agents[id].keep()

    async def restore(self) -> None:
        id = self.any_agent()
        known = self.agents[id]
        number = self.random.randint(1, len(known.history))
        answer = await self.api.post(f"/api/v1/agents/{id}/versions/{number}/restore")
        assert answer.status == 200, answer
        then = known.history[number - 1]
        known.name = then.name
        known.tools = {tool: on for tool, on in then.tools.items() if tool in self.tools}
        stays = {sub: kind for sub, kind in known.subs.items() if sub in then.subs}
        self.deleted += [sub for sub, kind in known.subs.items() if kind == "direct" and sub not in stays]
        known.subs = stays
        for sub, kind in then.subs.items():
            is_there = kind == "direct" or sub in self.agents
            if sub not in stays and is_there and not self._problem(id, sub):
                known.subs[sub] = kind
                self.deleted = [gone for gone in self.deleted if gone != sub]
        gone = (len(then.tools) - len(known.tools)) + (len(then.subs) - len(known.subs))
        assert len(answer.json()["warnings"]) == gone, answer
        known.keep()

    async def look_at_the_dead(self) -> None:
        if self.deleted:
            id = self.random.choice(self.deleted)
            assert (await self.api.get(f"/api/v1/agents/{id}")).code == "agent_not_found"

    def _changed(self, id: str, *, is_changed: bool, **fields: str) -> None:
        vars(self.agents[id]).update(fields)
        if is_changed:
            self.agents[id].keep()

    @staticmethod
    def _expect(answer: Response, good: int, code: str, refused: bool) -> bool:
        if refused:
            assert (answer.status, answer.code) == (409, code), answer
        else:
            assert answer.status == good, answer
        return not refused

    def _problem(self, upper: str, lower: str) -> str:
        if upper == lower or upper in self._below(lower):
            return "sub_agent_cycle"
        deep = self._height(upper, up=True) + 1 + self._height(lower, up=False) > DEEPEST
        return "sub_agents_too_deep" if deep else ""

    def _next(self, id: str, *, up: bool) -> list[str]:
        if up:
            return [other for other, known in self.agents.items() if id in known.subs]
        return [*self.agents[id].subs] if id in self.agents else []

    def _below(self, id: str) -> set[str]:
        found = set(self._next(id, up=False))
        return found.union(*(self._below(each) for each in found))

    def _height(self, id: str, *, up: bool) -> int:
        return max((1 + self._height(each, up=up) for each in self._next(id, up=up)), default=0)

    async def compare(self) -> None:
        listed: list[dict[str, Any]] = (await self.api.get("/api/v1/agents?per_page=100")).json()["data"]
        assert {one["id"] for one in listed} == set(self.agents)
        for id, known in self.agents.items():
            shown = await read_agent(self.api, {"id": id})
            assert (shown["name"], shown["status"]) == (known.name, known.status)
            assert {tool["id"]: tool["is_enabled"] for tool in shown["tools"]} == known.tools
            assert {sub["id"]: sub["relationship_type"] for sub in shown["sub_agents"]} == known.subs
            assert shown["version"] == len(known.history)
            versions = await versions_of(self.api, {"id": id})
            assert [one["published"] for one in versions[::-1]] == [
                each.status == "published" for each in known.history[: len(versions)]
            ]


async def live(api: Api, seed: int, steps: int) -> None:
    world = World(api, seed)
    for _ in range(steps):
        await world.step()
    await world.compare()


@pytest.mark.parametrize("seed", range(3))
async def test_agents_are_what_the_model_says_after_any_history(admin, seed: int) -> None:
    await live(admin, seed, 90)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 150))
async def test_agents_are_what_the_model_says_after_many_long_histories(admin, seed: int) -> None:
    await live(admin, seed, 150)
