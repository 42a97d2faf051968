"""Keys that a workflow's node does not have are refused when they are written; what is stored runs on."""

from typing import Any

from retinue.workflows.models import Workflow, WorkflowVersion

PATH = "/api/v1/workflows"
END = {"id": "end", "type": "end", "config": {"output": "done"}}


def notice(**config: Any) -> dict[str, Any]:
    return {"id": "tell", "type": "notification", "config": {"title": "Hello", **config}}


def body(*nodes: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"name": "Tell", "nodes": list(nodes), **more}


async def unknown_fields(answer) -> list[str]:
    assert (answer.status, answer.code) == (422, "validation_error"), answer
    assert set(answer.details.values()) == {"is not a known field"}
    return list(answer.details)


async def test_a_config_with_unknown_keys_is_refused_with_their_paths(admin) -> None:
    nested = notice(recipients={"mails": ["a@example.com"]})
    repeated = {"type": "http", "config": {"url": "https://example.com", "verb": "GET"}}
    loop = {"id": "each", "type": "loop", "config": {"items": [1], "node": repeated}}
    field = {"type": "email", "label": "E-mail", "validation": {"allowed_domain": "example.com"}}
    approval = {"id": "ask", "type": "approval", "config": {"fields": [field]}}
    sent = body(END, nested, notice(recipient="a"), loop, approval)
    assert await unknown_fields(await admin.post(PATH, sent)) == [
        "nodes.1.config.recipients.mails",
        "nodes.2.config.recipient",
        "nodes.3.config.node.config.verb",
        "nodes.4.config.fields.0.validation.allowed_domain",
    ]
    assert (await admin.get(PATH)).json()["data"] == []
    made = (await admin.post(PATH, body(END, notice(data={"free": 1})))).json()
    assert "warnings" not in made
    path = f"{PATH}/{made['data']['id']}"
    changed = await admin.put(path, {"nodes": [notice(recipient="a")]})
    assert await unknown_fields(changed) == ["nodes.0.config.recipient"]
    batch = {"operations": [{"op": "create", "data": body(notice(recipient="a"))}]}
    (failed,) = (await admin.post("/v1/workflows/batch", batch)).json()["data"]
    assert (failed["status"], list(failed["error"]["details"])) == (422, ["nodes.0.config.recipient"])


async def test_conditions_and_repeated_nodes_refuse_keys_that_change_their_meaning(admin) -> None:
    typo = {"field": "input.a", "operator": "equals", "vlue": 1}
    group = {"id": "if", "type": "condition", "config": {"all": [{"any": [typo]}], "any": [typo], "vlue": 1}}
    own = {"id": "own", "type": "condition", "config": {"condition": {**typo, "all": [typo]}}}
    repeated = {"type": "transform", "config": {"set": 1}, "on_eror": "continue", "retry": {"mx": 3}}
    repeated["position"] = {"x": 1}
    loop = {"id": "each", "type": "loop", "config": {"items": [1], "node": repeated}}
    field = {"type": "text", "label": "Why?", "conditional": typo}
    approval = {"id": "ask", "type": "approval", "config": {"fields": [field]}}
    edge = {"from": "if", "to": "own", "when": {"any": [typo]}}
    sent = body(group, own, loop, approval, edges=[edge, {"from": "own", "to": "each", "when": "true"}])
    assert await unknown_fields(await admin.post(PATH, sent)) == [
        "nodes.0.config.vlue",
        "nodes.0.config.all.0.any.0.vlue",
        "nodes.0.config.any.0.vlue",
        "nodes.1.config.condition.vlue",
        "nodes.1.config.condition.all.0.vlue",
        "nodes.2.config.node.on_eror",
        "nodes.2.config.node.retry.mx",
        "nodes.3.config.fields.0.conditional.vlue",
        "edges.0.when.any.0.vlue",
    ]
    made = (await admin.post(PATH, body(END))).json()["data"]
    changed = await admin.put(f"{PATH}/{made['id']}", {"edges": [{**edge, "from": "end", "to": "end"}]})
    assert await unknown_fields(changed) == ["edges.0.when.any.0.vlue"]


async def test_a_comparison_needs_its_value_once_it_is_published(admin, people, service) -> None:
    bare = {"field": "input.a"}
    nodes = [{"id": "if", "type": "condition", "config": {"any": [bare, {**bare, "value": None}]}}, END]
    edge = {"from": "if", "to": "end", "when": {**bare, "operator": "greater_than"}}
    draft = (await admin.post(PATH, body(*nodes, edges=[edge]))).json()["data"]
    path = f"{PATH}/{draft['id']}"
    missing = {"nodes.if.config.any.0.value": "is required", "edges.0.when.value": "is required"}
    validated = (await admin.post(f"{path}/validate")).json()["data"]
    assert {one["path"]: one["message"] for one in validated["errors"]} == missing
    assert (await admin.post(f"{path}/publish")).details == missing
    good = {"edges": [{**edge, "when": {**bare, "operator": "is_empty"}}], "nodes": [nodes[1], nodes[0]]}
    good["nodes"][1] = {**nodes[0], "config": {**bare, "value": None}}
    assert (await admin.put(path, {**good, "status": "published"})).status == 200
    changed = await admin.put(path, {"edges": [edge]})
    assert (changed.status, changed.details) == (422, {"edges.0.when.value": "is required"})
    async with people.context(admin.user.tenant_id) as ctx:
        await ctx.db.update(await ctx.db.get(Workflow, draft["id"]), nodes=nodes, edges=[edge])
    renamed = await admin.put(path, {"name": "Renamed", "nodes": nodes})
    assert renamed.status == 200, renamed


async def test_other_parts_are_warned_about_and_editors_keep_their_places(admin) -> None:
    node = {**END, "position": {"x": 1}, "retries": 3}
    trigger = {"type": "event", "config": {"event_type": "form.submitted", "filter": {}}}
    edges = [{"from": "end", "to": "end", "wen": "true"}]
    made = (await admin.post(PATH, body(node, trigger=trigger, edges=edges))).json()
    assert made["warnings"] == [
        "ignored_field:nodes.0.retries",
        "ignored_field:edges.0.wen",
        "ignored_field:trigger.config.filter",
    ]
    assert made["data"]["nodes"] == [node]


async def test_what_is_stored_runs_on_until_it_is_written_or_published(admin, people, service) -> None:
    made = (await admin.post(PATH, body(END, status="published"))).json()["data"]
    stored = [{**END, "config": {"output": "done", "former": 1}}]
    async with people.context(admin.user.tenant_id) as ctx:
        workflow = await ctx.db.get(Workflow, made["id"])
        await ctx.db.update(workflow, nodes=stored)
        (version,) = await ctx.db.all(WorkflowVersion)
        await ctx.db.update(version, nodes=stored)
    path = f"{PATH}/{made['id']}"
    ran = await admin.post(f"{path}/execute?wait=true", {"input": {}})
    await service.runner.drain()
    executions = (await admin.get(f"{path}/executions")).json()["data"]
    assert [one["status"] for one in executions] == ["completed"], ran
    renamed = await admin.put(path, {"name": "Renamed", "nodes": stored})
    assert renamed.status == 200, renamed
    validated = (await admin.post(f"{path}/validate")).json()["data"]
    assert validated["errors"][0]["path"] == "nodes.end.config.former"
    assert (await admin.post(f"{path}/unpublish")).status == 200
    assert await unknown_fields(await admin.post(f"{path}/publish")) == ["nodes.end.config.former"]
