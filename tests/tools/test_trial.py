"""Tools that are run without being stored."""

from typing import Any

import pytest

from retinue.access.models import Role
from tests.client import Api
from tests.factories.happenings import audits
from tests.factories.machines import machine
from tests.factories.people import People
from tests.tools.servers.rest_api import RestApi

PATH = "/v1/tools/try"


def rest(url: str, **more: Any) -> dict[str, Any]:
    config = {"base_url": url, "endpoints": {"only": {"method": "GET", "path": "/orders/{id}"}}}
    return {"tool_type": "rest_api", "config": config, "input": {"id": "7"}, **more}


async def test_a_tool_runs_and_nothing_but_the_audit_log_and_usage_keep_it(
    admin: Api, people: People, remote: RestApi
) -> None:
    answer = await admin.post(
        PATH, rest(remote.url, auth_type="bearer", auth_config={"token": "s3cret-of-the-trial"})
    )
    assert answer.status == 200, answer
    shown = answer.json()["data"]
    assert shown["status"] == "completed", shown
    assert remote.last.target == "/orders/7"
    assert remote.last.headers["Authorization"] == "Bearer s3cret-of-the-trial"
    assert b"s3cret-of-the-trial" not in answer.body
    assert (await admin.get("/v1/tools")).json()["data"] == []
    [audited] = await audits(people, "tool.tried")
    assert audited.metadata == {"tool_type": "rest_api", "destination": remote.url}
    assert audited.actor == {"type": "user", "id": admin.user.id}
    assert "s3cret" not in str(audited)


async def test_a_python_function_runs_in_its_sandbox(admin: Api) -> None:
    body = {
        "tool_type": "function",
        "config": {"runtime": "python", "code": "def main(input):\n    return input['a'] + 1"},
        "input": {"a": 41},
    }
    answer = await admin.post(PATH, body)
    assert answer.json()["data"]["output"] == 42, answer
    broken = await admin.post(
        PATH, {**body, "config": {**body["config"], "code": "def main(input):\n    return 1/0"}}
    )
    assert (broken.status, broken.json()["data"]["status"]) == (200, "failed")


async def test_the_guards_of_stored_tools_hold(admin: Api) -> None:
    answer = await admin.post(PATH, rest("http://169.254.169.254"))
    failed = answer.json()["data"]
    assert (failed["status"], failed["error"]["code"]) == ("failed", "ssrf_blocked"), failed


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"config": {"base_url": 5}}, "config.base_url"),
        ({"tool_type": "spoon"}, "tool_type"),
        ({"input_schema": {"type": "object", "required": ["city"]}}, "input.city"),
        ({"auth_type": "telepathy"}, "auth_type"),
    ],
)
async def test_what_cannot_be_run_is_refused_by_field(
    admin: Api, people: People, change: dict[str, Any], field: str
) -> None:
    refused = await admin.post(PATH, {**rest("https://api.example.com"), **change})
    assert (refused.status, list(refused.details)) == (422, [field]), refused
    assert await audits(people, "tool.tried") == []


async def test_it_takes_both_permissions(admin: Api, people: People, remote: RestApi) -> None:
    for permission in ("tools:write", "tools:execute"):
        one = await machine(admin, permission, name=permission)
        refused = await one.post(PATH, rest(remote.url))
        assert (refused.status, refused.code) == (403, "forbidden")
    both = await machine(admin, "tools:write", "tools:execute")
    assert (await both.post(PATH, rest(remote.url))).status == 200
    assert (await (await people.signed_in(Role.viewer)).post(PATH, rest(remote.url))).status == 403
