"""Tests of what editors keep about a workflow: it is stored, versioned and copied, and never run."""

from typing import Any

from retinue.app import Service
from tests.client import Api
from tests.factories.workflows import PATH, execution, make_workflow, node, start

UI = {"positions": {"a": {"x": 1, "y": 2.5}}, "zoom": 0.84}


async def _read(api: Api, path: str) -> dict[str, Any]:
    answer = await api.get(path)
    assert answer.status == 200, answer
    return answer.json()["data"]


async def _versions(api: Api, workflow: dict[str, Any]) -> list[dict[str, Any]]:
    return (await api.get(f"{PATH}/{workflow['id']}/versions")).json()["data"]


async def test_it_is_stored_and_emptied_by_null(admin: Api) -> None:
    made = await make_workflow(admin, node("a"), status="draft", ui=UI)
    path = f"{PATH}/{made['id']}"
    assert made["ui"] == (await _read(admin, path))["ui"] == UI
    assert (await admin.put(path, {"name": "Other"})).json()["data"]["ui"] == UI
    assert (await admin.put(path, {"ui": None})).json()["data"]["ui"] == {}
    assert (await make_workflow(admin, node("a")))["ui"] == {}
    assert (await make_workflow(admin, node("a"), ui=None))["ui"] == {}


async def test_a_change_of_it_alone_makes_no_version(admin: Api) -> None:
    made = await make_workflow(admin, node("a"), ui=UI)
    path = f"{PATH}/{made['id']}"
    moved = (await admin.put(path, {"ui": {"zoom": 1}})).json()["data"]
    assert (moved["version"], moved["status"], moved["ui"]) == (1, "published", {"zoom": 1})
    assert [one["ui"] for one in await _versions(admin, made)] == [UI]
    changed = (await admin.put(path, {"nodes": [node("b")]})).json()["data"]
    assert changed["version"] == 2
    assert [one["ui"] for one in await _versions(admin, made)] == [{"zoom": 1}, UI]
    assert (await _read(admin, f"{path}/versions/2"))["ui"] == {"zoom": 1}


async def test_publishing_again_after_moving_nodes_makes_no_version(admin: Api) -> None:
    made = await make_workflow(admin, node("a"), ui=UI)
    path = f"{PATH}/{made['id']}"
    assert (await admin.post(f"{path}/unpublish", {})).status == 200
    assert (await admin.put(path, {"ui": {"zoom": 1}})).status == 200
    assert (await admin.post(f"{path}/publish", {})).json()["data"]["version"] == 1


async def test_it_is_copied_and_never_run(service: Service, admin: Api) -> None:
    made = await make_workflow(admin, node("a", set="{{ui.zoom}}"), ui=UI)
    copied = (await admin.post(f"{PATH}/{made['id']}/duplicate", {})).json()["data"]
    assert copied["ui"] == UI
    id = await start(admin, made)
    await service.runner.drain()
    done = await execution(admin, made, id)
    assert (done["status"], done["output"]) == ("completed", None)


async def test_it_is_an_object_of_limited_size(admin: Api) -> None:
    made = await make_workflow(admin, node("a"))
    path = f"{PATH}/{made['id']}"
    for wrong in ([], "text", 1, {"text": "x" * 64 * 1024}):
        answer = await admin.put(path, {"ui": wrong})
        assert (answer.status, list(answer.details)) == (422, ["ui"]), wrong
    body = {"name": "Flow", "ui": {"text": "x" * 64 * 1024}}
    assert list((await admin.post(PATH, body)).details) == ["ui"]
    assert (await admin.put(path, {"ui": {"text": "x" * (64 * 1024 - 11)}})).status == 200
