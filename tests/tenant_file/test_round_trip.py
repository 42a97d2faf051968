"""Tests that an export, applied to an empty tenant and exported again, is the same file."""

import msgspec

from retinue.access.models import Role
from retinue.kit.errors import Invalid
from retinue.tenant_file.document import SECTION_NAMES, TenantDocument, render_document
from retinue.tenant_file.parts import to_plain
from retinue.tenant_file.service import read_file
from tests.tenant_file.filled import (
    CANARY,
    actions,
    apply,
    export,
    fill,
    make_agent,
    make_credential,
    manual_sum,
    plan,
    upload_manual,
)


async def test_an_export_has_every_section_and_no_secret(people):
    first = await people.signed_in(Role.tenant_admin, await people.tenant("First"))
    await fill(first)
    exported = await export(first)
    document = to_plain(await read_file(exported))
    assert [name for name in SECTION_NAMES if not document[name]] == []
    assert CANARY not in exported
    assert actions(await plan(first, exported, prune=True)) == {"unchanged"}


async def test_a_whole_tenant_survives_the_round_trip(people):
    first = await people.signed_in(Role.tenant_admin, await people.tenant("First"))
    second = await people.signed_in(Role.tenant_admin, await people.tenant("Second"))
    await fill(first)
    exported = await export(first)
    await make_credential(second)
    await upload_manual(second)
    applied = await apply(second, exported)
    assert actions(applied) == {"create"}
    assert applied.json()["applied"] == len(applied.json()["changes"])
    assert "tools/weather: enter its authentication in this tenant." in applied.json()["warnings"]
    assert await export(second) == exported
    assert actions(await plan(second, exported, prune=True)) == {"unchanged"}

    as_json = await export(second, format="json")
    assert msgspec.json.decode(as_json) == to_plain(await read_file(exported))
    assert actions(await plan(second, msgspec.json.decode(as_json), prune=True)) == {"unchanged"}


async def test_the_file_names_things_and_refers_to_them_by_name(people):
    api = await people.signed_in(Role.tenant_admin, await people.tenant())
    await fill(api)
    document = to_plain(await read_file(await export(api)))
    assert set(document["agents"]) == {"Support", "Support #2"}
    assert document["agents"]["Support #2"]["name"] == "Support"
    assert document["tools"]["named"]["credential"] == "@credentials/Weather key"
    assert document["incoming_webhooks"]["Shop"]["workflow"] == "@workflows/08"
    (key,) = document["agent_documents"]
    assert document["agent_documents"][key]["sha256"] == manual_sum()
    assert document["agent_documents"][key]["agent"] in {"@agents/Support", "@agents/Support #2"}
    assert {"agent.* webhook", "agent.* webhook #2"} <= set(document["subscriptions"])


async def test_the_file_tells_where_secrets_belong(people):
    api = await people.signed_in(Role.tenant_admin, await people.tenant())
    await fill(api)
    document = to_plain(await read_file(await export(api)))
    assert document["tools"]["weather"]["auth_config"] == {
        "api_key_header": "X-Weather",
        "api_key_location": "header",
    }
    assert document["tools"]["weather"]["own_secrets"] is True
    assert document["tools"]["named"]["auth_config"] == {"api_key_header": "X-Named"}
    assert document["webhooks"]["https://erp.example/in"]["headers"] == ["X-Key"]
    assert document["trace_exporters"]["Tempo"]["headers"] == ["X-T"]
    assert "api_key" not in document["notification_channels"]["Mail"]["config"]


async def test_names_of_the_file_stay_with_their_objects(people):
    """Deleting or renaming an object through the API does not turn it into another of the file."""
    api = await people.signed_in(Role.tenant_admin, await people.tenant())
    text = """
retinue: 1
agents:
  First: {name: Desk, primary_model: local/any, system_prompt: One.}
  Second: {name: Desk, primary_model: local/any, system_prompt: Two.}
  desk: {primary_model: local/any, system_prompt: Three.}
webhooks:
  Orders: {url: "https://a.example/x", events: ["form.*"]}
  Returns: {url: "https://a.example/x", events: ["agent.*"]}
"""
    assert actions(await apply(api, text)) == {"create"}
    assert actions(await plan(api, text, prune=True)) == {"unchanged"}
    listed = (await api.get("/api/v1/agents")).json()["data"]
    assert sorted(agent["name"] for agent in listed) == ["Desk", "Desk", "desk"]
    detail = [(await api.get(f"/api/v1/agents/{agent['id']}")).json() for agent in listed]
    first = next(agent["id"] for agent in detail if agent["system_prompt"] == "One.")
    assert (await api.delete(f"/api/v1/agents/{first}")).status == 204
    planned = (await plan(api, text, prune=True)).json()["changes"]
    assert {change["name"]: change["action"] for change in planned if change["action"] != "unchanged"} == {
        "First": "create"
    }
    await make_agent(api, "First", "A stranger.")
    planned = (await plan(api, text)).json()["changes"]
    assert (planned[0]["section"], planned[0]["name"], planned[0]["action"]) == ("agents", "First", "update")


def test_texts_that_look_like_something_else_stay_texts():
    texts = [
        "08",
        "1e5",
        "no",
        "~",
        "null",
        "12:30",
        "0x1F",
        "<<",
        "=",
        "- a",
        "a: b",
        " a ",
        "a\nb\n",
        "\u2028",
    ]
    document = TenantDocument(retinue=1, agents={})
    for text in texts:
        rendered = render_document(msgspec.structs.replace(document, warnings=[text, f"{text}x"]), "yaml")
        from retinue.adapters.openapi.yaml_text import parse_yaml

        assert parse_yaml(rendered)["warnings"] == [text, f"{text}x"], rendered


def test_invalid_is_what_a_document_of_another_version_is():
    from retinue.tenant_file.document import read_document

    for content in ({"retinue": 2}, {}, [], None, "text", {"retinue": 1, "robots": {}}):
        try:
            read_document(content)
        except Invalid:
            continue
        raise AssertionError(content)
