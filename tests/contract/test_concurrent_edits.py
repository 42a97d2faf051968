"""Tests of ETags: of two changes of the same version, one is refused."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
import pytest

from retinue.kit.http.routing import takes_if_match
from tests.client import Api, Response
from tests.contract.routes import ROUTES, label
from tests.factories.agents import make_agent
from tests.factories.credentials import create
from tests.factories.forms import NAME, make_form
from tests.factories.tools import make_tool
from tests.factories.workflows import make_workflow
from tests.tables.tables import BASE as TABLES

pytestmark = pytest.mark.every_case

Made = tuple[str, dict[str, Any], dict[str, Any]]
"""The path of something to edit, and two different changes of it."""


async def an_agent(api: Api) -> Made:
    made = await make_agent(api)
    return f"/api/v1/agents/{made['id']}", {"name": "One"}, {"name": "Two"}


async def a_form(api: Api) -> Made:
    made = await make_form(api, NAME)
    return f"/api/v1/forms/{made['id']}", {"name": "One"}, {"fields": [NAME, {"id": "b", "type": "text"}]}


async def a_workflow(api: Api) -> Made:
    made = await make_workflow(api)
    return f"/api/v1/workflows/{made['id']}", {"name": "One"}, {"description": "Two"}


async def a_tool(api: Api) -> Made:
    made = await make_tool(api)
    bearer = {"auth_type": "bearer", "auth_config": {"token": "another"}}
    return f"/v1/tools/{made['id']}", {"name": "One"}, bearer


async def a_credential(api: Api) -> Made:
    made = await create(api, "api_key", secrets={"api_key": "k"})
    return f"/v1/credentials/{made['id']}", {"name": "One"}, {"secrets": {"api_key": "new"}}


async def a_row(api: Api) -> Made:
    columns = [{"name": "name", "type": "text"}]
    table = (await api.post(TABLES, {"name": "T", "columns": columns})).json()["data"]
    row = (await api.post(f"{TABLES}/{table['id']}/rows", {"name": "Zero"})).json()["data"]
    return f"{TABLES}/{table['id']}/rows/{row['id']}", {"name": "One"}, {"name": "Two"}


KINDS: dict[str, Callable[[Api], Awaitable[Made]]] = {
    "agent": an_agent,
    "form": a_form,
    "workflow": a_workflow,
    "tool": a_tool,
    "credential": a_credential,
    "row": a_row,
}
each_kind = pytest.mark.parametrize("kind", KINDS)


def tag_of(answer: Response) -> str:
    tag = answer.headers["etag"]
    assert tag.startswith('"'), "a strong tag"
    assert tag.endswith('"')
    return tag


@each_kind
async def test_the_tag_changes_with_every_change_and_only_then(admin: Api, kind: str) -> None:
    path, first, _ = await KINDS[kind](admin)
    seen = tag_of(await admin.get(path))
    assert tag_of(await admin.get(path)) == seen
    changed = await admin.put(path, first, headers={"If-Match": seen})
    assert changed.status == 200, changed
    current = tag_of(changed)
    assert current not in {seen, '""'}
    assert tag_of(await admin.get(path)) == current


@each_kind
async def test_a_change_of_an_old_version_is_refused_and_changes_nothing(admin: Api, kind: str) -> None:
    path, first, second = await KINDS[kind](admin)
    seen = tag_of(await admin.get(path))
    current = tag_of(await admin.put(path, first, headers={"If-Match": seen}))
    before = (await admin.get(path)).body
    for late in (
        await admin.put(path, second, headers={"If-Match": seen}),
        await admin.put(path, second, headers={"If-Match": f'"x", {seen}'}),
        await admin.put(path, second, headers={"If-Match": f"W/{current}" if kind != "row" else '"x"'}),
        await admin.delete(path, headers={"If-Match": seen}),
    ):
        assert (late.status, late.code, late.details["current"]) == (412, "version_conflict", current), late
    assert (await admin.get(path)).body == before


@each_kind
async def test_a_change_of_the_current_or_of_any_version_is_made(admin: Api, kind: str) -> None:
    path, first, second = await KINDS[kind](admin)
    seen = tag_of(await admin.get(path))
    current = tag_of(await admin.put(path, first, headers={"If-Match": seen}))
    listed = await admin.put(path, second, headers={"If-Match": f'"x", {current}'})
    assert listed.status == 200, listed
    assert tag_of(listed) not in {seen, current}
    for any_version in ("*", ""):
        assert (await admin.put(path, first, headers={"If-Match": any_version})).status == 200
    assert (await admin.put(path, second)).status == 200
    last = tag_of(await admin.get(path))
    assert (await admin.delete(path, headers={"If-Match": last})).status == 204


@each_kind
async def test_of_many_changes_of_the_same_version_one_is_made(admin: Api, kind: str) -> None:
    path, first, second = await KINDS[kind](admin)
    for _ in range(3):
        seen = tag_of(await admin.get(path))
        answers = await asyncio.gather(
            *(admin.put(path, change, headers={"If-Match": seen}) for change in (first, second) * 3)
        )
        assert sorted(one.status for one in answers) == [200, *[412] * 5]
        (winner,) = [one for one in answers if one.status == 200]
        assert tag_of(await admin.get(path)) == tag_of(winner)
        first, second = ({**one, "name": f"{one.get('name', 'N')}x"} for one in (first, second))
        assert (await admin.put(path, {"name": "between"})).status == 200


async def test_what_is_made_has_its_tag_and_an_unchanged_version_keeps_it(admin: Api) -> None:
    made = await admin.post(
        "/api/v1/agents", {"name": "A", "primary_model": "openai/gpt-4o", "system_prompt": "Hello"}
    )
    path = f"/api/v1/agents/{made.json()['id']}"
    assert tag_of(made) == tag_of(await admin.get(path))
    published = await admin.post(f"{path}/publish")
    assert tag_of(published) == tag_of(await admin.get(path)) != tag_of(made)
    again = await admin.put(path, {"name": "A"}, headers={"If-Match": tag_of(made)})
    assert (again.status, again.code) == (412, "version_conflict")


async def test_using_a_tool_is_no_edit_of_it(admin: Api, service: Any) -> None:
    path, _, _ = await a_tool(admin)
    before = tag_of(await admin.get(path))
    assert (await admin.post(f"{path}/execute", {"input": {}})).status == 200
    await service.runner.drain()
    assert tag_of(await admin.get(path)) == before


async def test_a_page_of_another_origin_may_read_and_send_tags(make_service: Any) -> None:
    service = await make_service(cors_origins=("https://console.example",))
    api = Api(service)
    headers = {"Origin": "https://console.example", "Access-Control-Request-Method": "PUT"}
    preflight = await api.request("OPTIONS", "/api/v1/agents/agt_x", headers=headers)
    assert "If-Match" in preflight.headers["access-control-allow-headers"]
    answer = await api.get("/api/v1/agents/agt_x", headers=headers)
    assert "ETag" in answer.headers["access-control-expose-headers"].split(", ")


def test_the_document_says_where_versions_are_compared() -> None:
    from retinue.app import openapi_document

    paths = msgspec.json.decode(openapi_document())["paths"]
    taking = [route for route in ROUTES if takes_if_match(route)]
    assert len(taking) >= 14
    for route in taking:
        operation = paths[route.path][route.method.lower()]
        assert {"$ref": "#/components/parameters/IfMatch"} in operation["parameters"], label(route)
        assert "412" in operation["responses"], label(route)
