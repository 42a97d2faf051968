"""B6: two tenants with the same documents, whatever they do and in whatever order, never see each other's."""

import random
from typing import Any

import pytest

from retinue.access.models import Role
from retinue.knowledge import retrieval
from retinue.knowledge.vector_index import IndexCache
from retinue.usage.enforcement import Spender
from retinue.usage.single_call import SingleCall

STEPS, LONG_STEPS = 60, 1000
TOPICS = ("pump", "filter", "tank", "valve", "hose")


class Tenant:
    """An agent that was taught texts which only differ by their tenant's secret word."""

    def __init__(self, school: Any, person: Any, agent: Any, canary: str) -> None:
        self.school, self.person, self.agent, self.canary = school, person, agent, canary
        self.documents: dict[str, str] = {}

    def text(self, topic: str) -> bytes:
        return f"The {topic} of the house has the code QX-7000. Ask {self.canary} about the {topic}.".encode()

    async def teach(self, topic: str) -> None:
        if topic not in self.documents:
            (made,) = await self.school.teach(self.person, self.agent, (f"{topic}.txt", self.text(topic)))
            self.documents[topic] = made["id"]

    async def forget(self, topic: str) -> None:
        if topic in self.documents:
            path = f"/api/v1/agents/{self.agent['id']}/documents/{self.documents.pop(topic)}"
            assert (await self.person.delete(path)).status == 204

    async def ask(self, topic: str, other: str) -> None:
        query = f"What is the code QX-7000 of the {topic}? Ask {other}"
        found = await self.school.ask(self.person, self.agent, query, top_k=10)
        assert {one["document_id"] for one in found} == set(self.documents.values())
        assert all(self.canary in one["chunk_preview"] for one in found)
        assert not any(other in one["chunk_preview"] for one in found)

    async def rob(self, other: "Tenant", topic: str) -> None:
        """With the other's ids in one's own address, and as a filter."""
        taken = other.documents.get(topic, "doc_x")
        path = f"/api/v1/agents/{self.agent['id']}/documents/{taken}"
        assert (await self.person.get(path)).status == 404
        assert (await self.person.delete(path)).status == 404
        filters = {"document_id": taken}
        assert await self.school.ask(self.person, self.agent, topic, filters=filters) == []
        address = f"/api/v1/agents/{other.agent['id']}/knowledge/search"
        assert (await self.person.post(address, {"query": topic})).status == 404


async def interleave(school: Any, people: Any, steps: int, seed: int) -> None:
    chance = random.Random(seed)
    tenants = []
    for canary in ("Heliotrope", "Marzipan"):
        person = await people.signed_in(Role.tenant_admin, await people.tenant(f"Tenant {canary}"))
        tenants.append(Tenant(school, person, await school.admit(person), canary))
    for _ in range(steps):
        one, other = chance.sample(tenants, 2)
        topic = chance.choice(TOPICS)
        action = chance.choice(("teach", "teach", "ask", "ask", "forget", "rob"))
        if action == "teach":
            await one.teach(topic)
        elif action == "forget":
            await one.forget(topic)
        elif action == "rob":
            await one.rob(other, topic)
        else:
            await one.ask(topic, other.canary)
    for one, other in (tenants, tenants[::-1]):
        await one.teach("pump")
        await one.ask("pump", other.canary)


async def test_two_tenants_with_the_same_documents_do_not_meet(school: Any, people: Any) -> None:
    await interleave(school, people, STEPS, seed=4)


@pytest.mark.slow
async def test_two_tenants_do_not_meet_in_a_thousand_steps(school: Any, people: Any) -> None:
    for seed in range(3):
        await interleave(school, people, LONG_STEPS, seed)


@pytest.mark.one_service("looks into the memory of one process")
async def test_what_is_remembered_of_a_base_is_remembered_for_its_tenant(
    school: Any, people: Any, service: Any
) -> None:
    await interleave(school, people, 0, seed=1)
    remembered = service.instance.states[IndexCache]._indexes
    assert len(remembered) == 2
    assert len({tenant_id for tenant_id, _ in remembered}) == 2


@pytest.mark.one_service("looks into the memory of one process")
async def test_rows_of_another_tenant_are_left_out_even_if_an_index_named_them(
    school: Any, people: Any, service: Any
) -> None:
    """An index that was put into the wrong place finds numbers that the database does not give out."""
    await interleave(school, people, 0, seed=2)
    remembered = service.instance.states[IndexCache]._indexes
    (key, index), (other_key, other_index) = remembered.items()
    remembered[key], remembered[other_key] = other_index, index
    for tenant_id, base_id in (key, other_key):
        async with people.context(tenant_id) as ctx:
            hold = SingleCall(Spender())
            found = await retrieval.search(ctx, base_id, "code QX-7000 of the pump", hold=hold)
            assert found.passages == []
