"""The event types: every one of the contract, each with a schema that its example fulfils."""

import jsonschema_rs

from tests.client import Api

AGENT = "agent_id name status version changes"
WORKFLOW = "workflow_id name status version"
EXECUTION = "workflow_id execution_id trigger status output error duration_ms"
NODE = "workflow_id execution_id node_id node_type status output duration_ms"
FORM = "form_id name slug status version"
SUBMISSION = "form_id form_name submission_id status previous_status data metadata workflow_execution_id"
APPROVAL = "approval_id title source status requested_by resolved_by comment edited_fields expires_at"
ROW = "table_id row_id row changes"
SYSTEM = (
    "test user.created user.deactivated user.deleted auth.login_failed auth.token_reuse credential.expiring"
    " credential.expired credential.refresh_failed webhook.disabled webhook.received channel.failed"
    " training.completed training.failed limit.reached budget.threshold"
)
# What the contract says of each; nothing where it leaves the data open.
CONTRACT = {
    **{f"agent.{name}": AGENT for name in ("created", "updated", "deleted", "published")},
    "agent.chat.started": "agent_id conversation_id channel user_id session_id",
    "agent.chat.message": "agent_id conversation_id message_id role content job_id tool_call_count usage",
    "agent.chat.completed": "agent_id conversation_id job_id reason message_count usage duration_ms",
    **{f"workflow.{name}": WORKFLOW for name in ("created", "updated", "deleted", "published")},
    **{f"workflow.execution.{name}": EXECUTION for name in ("started", "completed", "failed")},
    "workflow.execution.node_completed": NODE,
    **{f"form.{name}": FORM for name in ("created", "updated", "deleted", "published")},
    **{f"form.submission.{name}": SUBMISSION for name in ("created", "updated")},
    **{f"approval.{name}": APPROVAL for name in ("requested", "approved", "rejected", "timeout")},
    **{f"data_table.row.{name}": ROW for name in ("created", "updated", "deleted")},
    **{f"data_table.{name}": "" for name in ("created", "updated", "deleted", "import.completed")},
    **{f"system.{name}": "" for name in SYSTEM.split()},
}
CATEGORIES = ["agent", "workflow", "form", "approval", "data_table", "system"]


async def test_the_catalogue_is_complete_and_every_example_fulfils_its_schema(admin: Api) -> None:
    types = (await admin.get("/api/v1/event-types")).json()["event_types"]
    by_name = {one["name"]: one for one in types}
    assert CONTRACT.keys() - by_name.keys() == set()
    wrong = []
    for name, kind in by_name.items():
        assert kind["category"] == name.partition(".")[0]
        assert kind["description"]
        assert kind["version"] == 1
        schema, example = kind["schema"], kind["example"]
        if not jsonschema_rs.validator_for(schema).is_valid(example):
            wrong.append((name, "the example is not valid"))
        if example.keys() != schema["properties"].keys():
            wrong.append((name, "the example is not whole", schema["properties"].keys() ^ example.keys()))
        if not {"tenant_id", "actor"} <= set(schema["required"]):
            wrong.append((name, "tenant and actor"))
        expected = {*CONTRACT.get(name, "").split()}
        if expected and schema["properties"].keys() - {"tenant_id", "actor"} != expected:
            wrong.append((name, "not the data of the contract", list(schema["properties"])))
    assert wrong == []
    order = [CATEGORIES.index(one["category"]) for one in types]
    assert order == sorted(order)


async def test_one_type_is_shown_by_its_name_and_an_unknown_one_is_not_found(admin: Api) -> None:
    assert (await admin.get("/api/v1/event-types/categories")).json() == {"categories": CATEGORIES}
    one = (await admin.get("/api/v1/event-types/agent.created")).json()
    assert one["name"] == "agent.created"
    assert one["example"]["tenant_id"].startswith("ten_")
    # Audited only: no event that anyone could subscribe to.
    for name in ("agent.exploded", "system.credential.revealed", "agent"):
        answer = await admin.get(f"/api/v1/event-types/{name}")
        assert (answer.status, answer.code) == (404, "event_type_not_found"), name
