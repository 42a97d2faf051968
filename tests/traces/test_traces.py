"""Traces over the API: lists, filters, merged parts, OTLP/JSON."""

from typing import Any

import pytest

from retinue.access.models import Role
from retinue.kit.clock import ManualClock
from retinue.kit.tracing import names
from retinue.kit.tracing.origin import TraceOrigin
from retinue.kit.tracing.parts import Spending
from retinue.kit.tracing.recorder import PartRecorder
from tests.client import Api
from tests.factories.people import People
from tests.factories.traces import record_part

TRACES = "/api/v1/traces"
Json = dict[str, Any]


async def list_traces(api: Api, **query: Any) -> list[Json]:
    answer = await api.get(TRACES, query={"per_page": 100, **query})
    assert answer.status == 200, answer
    rows: list[Json] = answer.json()["data"]
    assert answer.json()["pagination"]["total"] == len(rows)
    return rows


def fail(part: PartRecorder) -> None:
    part.root.fail("model_timeout", "The model did not answer in time.")


async def test_a_trace_is_listed_with_its_figures(owner: Api, people: People) -> None:
    spending = Spending(120, 30, 20, 0.0125)
    ids = {"agent_id": "agt_1", "conversation_id": "conv_1", "user_id": owner.user.id}
    part = await record_part(people, owner.user.tenant_id, spending=spending, **ids)
    (row,) = await list_traces(owner)
    assert row.pop("duration_ms") == part.root.span.duration_ns // 1_000 / 1_000
    assert row.pop("started_at").startswith("2027-")
    assert row == {
        "trace_id": part.trace_id,
        "name": "invoke_agent Support",
        "kind": "turn",
        "status": "ok",
        "error": None,
        "span_count": 2,
        **ids,
        "workflow_id": None,
        "usage": {"input_tokens": 120, "output_tokens": 30, "cached_tokens": 20},
        "estimated_cost_usd": 0.0125,
        "correlation_id": "cor_test",
    }


async def test_filters_find_parts_of_every_depth(owner: Api, people: People) -> None:
    tenant = owner.user.tenant_id
    first = await record_part(people, tenant, agent_id="agt_1", conversation_id="conv_1", user_id="usr_1")
    inner = TraceOrigin(first.trace_id, first.root.span.span_id)
    await record_part(people, tenant, "deliver example.com", "delivery", origin=inner, work=fail)
    other = await record_part(people, tenant, "invoke_workflow Nightly", "workflow", workflow_id="wf_1")
    assert [row["trace_id"] for row in await list_traces(owner)] == [other.trace_id, first.trace_id]
    expected: dict[str, tuple[Json, list[str]]] = {
        "agent": ({"agent_id": "agt_1"}, ["turn"]),
        "conversation": ({"conversation_id": "conv_1"}, ["turn"]),
        "workflow": ({"workflow_id": "wf_1"}, ["workflow"]),
        "user": ({"user_id": "usr_1"}, ["turn"]),
        "kind": ({"kind": "delivery"}, ["delivery"]),
        "failed": ({"status": "error"}, ["delivery"]),
        "succeeded": ({"status": "ok"}, ["workflow", "turn"]),
        "code": ({"error_code": "model_timeout"}, ["delivery"]),
        "other code": ({"error_code": "model_timeou"}, []),
        "both": ({"status": "error", "agent_id": "agt_1"}, []),
        "correlation": ({"correlation_id": "cor_test"}, ["workflow", "delivery", "turn"]),
        "long": ({"min_duration_ms": 3_600_000}, []),
        "not long": ({"min_duration_ms": 0.001}, ["workflow", "delivery", "turn"]),
        "before": ({"to": "2001-01-01T00:00:00Z"}, []),
        "after": ({"from": "2001-01-01T00:00:00Z"}, ["workflow", "turn"]),
    }
    for case, (query, kinds) in expected.items():
        assert [row["kind"] for row in await list_traces(owner, **query)] == kinds, case
        by_duration = await list_traces(owner, sort="-duration_ms", **query)
        durations = [row["duration_ms"] for row in by_duration]
        assert sorted(row["kind"] for row in by_duration) == sorted(kinds), case
        assert durations == sorted(durations, reverse=True), case
    (failed,) = await list_traces(owner, status="error")
    assert failed["error"] == {"code": "model_timeout", "message": "The model did not answer in time."}


@pytest.mark.parametrize(
    "query",
    [{"kind": "dance"}, {"status": "fine"}, {"min_duration_ms": "-1"}, {"sort": "name"}, {"from": "soon"}],
)
async def test_bad_queries_are_refused(owner: Api, query: Json) -> None:
    answer = await owner.get(TRACES, query=query)
    assert (answer.status, list(answer.details)) == (422, list(query))


async def read_after_approval(owner: Api, people: People, clock: ManualClock) -> Json:
    """Record a part that waits for an approval and one that goes on a minute later; read the trace."""
    tenant = owner.user.tenant_id

    def wait(part: PartRecorder) -> None:
        part.start("approval pay", "approval", part.root.span.span_id).span.span_id = "a" * 16

    first = await record_part(people, tenant, work=wait, spending=Spending(10, 5, 0, 0.5))
    clock.advance(60)

    def decide(part: PartRecorder) -> None:
        now = clock.time()
        approval = part.add_finished(
            "approval pay",
            "approval",
            first.root.span.span_id,
            span_id="a" * 16,
            started_at=now - 59,
            ended_at=now,
        )
        approval.set({names.APPROVAL_OUTCOME: "approved"})

    origin = TraceOrigin(first.trace_id, first.root.span.span_id)
    await record_part(people, tenant, origin=origin, work=decide, spending=Spending(1, 2, 1, 0.25))
    answer = await owner.get(f"{TRACES}/{first.trace_id}")
    assert answer.status == 200, answer
    return answer.json()


async def test_a_span_of_two_parts_is_shown_once_as_the_later_part_has_it(
    owner: Api, people: People, clock: ManualClock
) -> None:
    spans = (await read_after_approval(owner, people, clock))["spans"]
    starts = [span["started_at"] for span in spans]
    assert starts == sorted(starts)
    assert [span["name"] for span in spans].count("approval pay") == 1
    (approval,) = [span for span in spans if span["kind"] == "approval"]
    assert approval["attributes"] == {names.APPROVAL_OUTCOME: "approved"}
    assert approval["duration_ms"] == pytest.approx(59_000, abs=1)
    assert spans[0]["parent_span_id"] is None


async def test_the_figures_of_parts_are_added(owner: Api, people: People, clock: ManualClock) -> None:
    trace = await read_after_approval(owner, people, clock)
    assert (trace["span_count"], len(trace["spans"])) == (3, 3)
    assert trace["usage"] == {"input_tokens": 11, "output_tokens": 7, "cached_tokens": 1}
    assert trace["estimated_cost_usd"] == 0.75
    # The clock of the test moves by a minute; what lies within a part is measured by the machine.
    assert trace["duration_ms"] == pytest.approx(60_000, abs=5_000)
    assert len(await list_traces(owner)) == 1


async def read_as_otlp(owner: Api, people: People) -> tuple[PartRecorder, Json]:
    """Record a failed turn that another trace started; return it and its spans of the one resource."""

    def work(part: PartRecorder) -> None:
        part.root.set({"text": "é", "whole": 7, "part": 0.5, "flag": True, "many": ["a", "b"], "huge": 2**70})
        part.root.add_event("retinue.retrieval.scores", {"score": 0.25})
        part.root.span.message_id = "msg_1"
        fail(part)

    caller = TraceOrigin(link=f"{'b' * 32}-{'c' * 16}")
    part = await record_part(people, owner.user.tenant_id, work=work, origin=caller)
    answer = await owner.get(f"{TRACES}/{part.trace_id}/otlp")
    assert answer.status == 200, answer
    (resource_spans,) = answer.json()["resourceSpans"]
    return part, resource_spans


async def test_a_trace_as_otlp_names_its_service_and_its_schema(owner: Api, people: People) -> None:
    _, resource_spans = await read_as_otlp(owner, people)
    resource = {one["key"]: one["value"]["stringValue"] for one in resource_spans["resource"]["attributes"]}
    assert resource["service.name"] == "retinue"
    assert {"service.version", "service.instance.id"} <= resource.keys()
    (scope_spans,) = resource_spans["scopeSpans"]
    assert scope_spans["scope"]["name"] == "retinue"
    assert scope_spans["schemaUrl"] == names.SCHEMA_URL


async def test_a_span_as_otlp_is_as_it_was_recorded(owner: Api, people: People) -> None:
    part, resource_spans = await read_as_otlp(owner, people)
    (span,) = resource_spans["scopeSpans"][0]["spans"]
    stored = part.root.span
    assert (span["traceId"], span["spanId"], span["kind"]) == (part.trace_id, stored.span_id, 1)
    assert span["startTimeUnixNano"] == str(stored.started_ns)
    assert span["endTimeUnixNano"] == str(stored.started_ns + stored.duration_ns)
    assert span["status"] == {"code": 2, "message": "The model did not answer in time."}
    assert "parentSpanId" not in span
    assert [event["name"] for event in span["events"]] == ["retinue.retrieval.scores"]
    assert span["links"] == [{"traceId": "b" * 32, "spanId": "c" * 16}]


async def test_the_attributes_of_a_span_as_otlp_keep_their_types(owner: Api, people: People) -> None:
    _, resource_spans = await read_as_otlp(owner, people)
    (span,) = resource_spans["scopeSpans"][0]["spans"]
    values = {one["key"]: one["value"] for one in span["attributes"]}
    for name in (names.INPUT_TOKENS, names.OUTPUT_TOKENS, names.TENANT_ID, names.CORRELATION_ID):
        del values[name]
    assert values == {
        "text": {"stringValue": "é"},
        "whole": {"intValue": "7"},
        "part": {"doubleValue": 0.5},
        "flag": {"boolValue": True},
        "many": {"arrayValue": {"values": [{"stringValue": "a"}, {"stringValue": "b"}]}},
        "huge": {"stringValue": str(2**70)},
        names.ERROR_TYPE: {"stringValue": "model_timeout"},
        # The columns of the row tell the rest.
        names.AGENT_NAME: {"stringValue": "Support"},
        names.OPERATION: {"stringValue": "invoke_agent"},
        names.MESSAGE_ID: {"stringValue": "msg_1"},
    }


async def test_the_same_id_in_two_tenants_stays_apart(owner: Api, people: People) -> None:
    other = await people.signed_in(Role.tenant_admin, await people.tenant("Other"))
    origin = TraceOrigin("d" * 32, "e" * 16)
    await record_part(people, owner.user.tenant_id, "invoke_agent Mine", origin=origin)
    for place in ("", "/otlp"):
        answer = await other.get(f"{TRACES}/{'d' * 32}{place}")
        assert (answer.status, answer.code) == (404, "trace_not_found")
    await record_part(people, other.user.tenant_id, "invoke_agent Theirs", origin=origin)
    for api, name in ((owner, "invoke_agent Mine"), (other, "invoke_agent Theirs")):
        trace = (await api.get(f"{TRACES}/{'d' * 32}")).json()
        assert (trace["name"], trace["span_count"]) == (name, 2)


async def test_who_may_read_and_write(owner: Api, people: People) -> None:
    tenant = await people.default_tenant()
    exporters = "/api/v1/trace-exporters"
    for role, reads in ((Role.agent_developer, True), (Role.agent_user, False), (Role.viewer, False)):
        person = await people.signed_in(role, tenant)
        assert (await person.get(TRACES)).status == (200 if reads else 403)
        assert (await person.get(exporters)).status == (200 if reads else 403)
        assert (await person.post(exporters, {"name": "A", "endpoint": "http://127.0.0.1:9"})).status == 403
    assert (await owner.get(f"{TRACES}/unknown")).code == "trace_not_found"
