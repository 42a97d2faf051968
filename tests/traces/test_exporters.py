"""Management of trace exporters."""

from typing import Any

import pytest

from retinue.access.models import Role
from retinue.app import Service
from tests.audit.reading import rows_of
from tests.canaries import hits
from tests.client import Api
from tests.conftest import ServiceMaker
from tests.factories.people import People
from tests.kit.egress_targets import REFUSED_HOSTS
from tests.traces.exporting import EXPORTERS, SECRET, add_exporter, read_exporter
from tests.traces.otlp_receiver import OtlpCollector

MASKED = {"X-Key": "••••••••"}
BODY = {"name": "Tempo", "endpoint": "http://127.0.0.1:9"}
Json = dict[str, Any]


async def test_an_exporter_is_made_shown_changed_and_deleted(owner: Api, collector: OtlpCollector) -> None:
    made = await add_exporter(owner, collector, sample=0.5, encoding="json")
    assert made["id"].startswith("tex_")
    assert made | {"id": "", "created_at": "", "updated_at": ""} == {
        "id": "",
        "name": "Tempo",
        "endpoint": collector.url,
        "headers": MASKED,
        "encoding": "json",
        "include_content": False,
        "sample": 0.5,
        "enabled": True,
        "status": "waiting",
        "last_sent_at": None,
        "last_error": None,
        "sent_spans": 0,
        "dropped_spans": 0,
        "created_at": "",
        "updated_at": "",
    }
    place = f"{EXPORTERS}/{made['id']}"
    changed = await owner.patch(place, {"enabled": False, "sample": 1})
    assert (changed.status, changed.json()["status"], changed.json()["sample"]) == (200, "disabled", 1)
    assert (await owner.get(EXPORTERS)).json()["data"] == [await read_exporter(owner, made)]
    assert (await owner.delete(place)).status == 204
    assert (await owner.get(place)).code == "trace_exporter_not_found"
    actions = [row["action"] for row in await rows_of(owner, action="traces.*")]
    assert actions == ["traces.exporter_deleted", "traces.exporter_updated", "traces.exporter_created"]


@pytest.mark.one_service("others know after seconds of real time: tests/e2e/test_traced_processes.py")
async def test_the_process_that_changes_exporters_knows_them_at_once(
    owner: Api, collector: OtlpCollector, service: Service
) -> None:
    tracing, tenant = service.instance.tracing, owner.user.tenant_id
    made = await add_exporter(owner, collector)
    assert tracing.exporters == {tenant: (made["id"],)}
    await owner.patch(f"{EXPORTERS}/{made['id']}", {"enabled": False})
    assert tracing.exporters == {}
    await owner.patch(f"{EXPORTERS}/{made['id']}", {"enabled": True})
    assert tracing.exporters_of(tenant) == (made["id"],)
    await owner.delete(f"{EXPORTERS}/{made['id']}")
    assert tracing.exporters == {}


async def test_a_tenant_has_at_most_three(owner: Api, collector: OtlpCollector) -> None:
    for _ in range(3):
        await add_exporter(owner, collector)
    refused = await owner.post(EXPORTERS, BODY)
    assert (refused.status, refused.code) == (409, "too_many_trace_exporters")


async def test_headers_belong_to_their_server(owner: Api, collector: OtlpCollector) -> None:
    made = await add_exporter(owner, collector)
    place = f"{EXPORTERS}/{made['id']}"
    same = {"endpoint": f"{collector.url}/v1/traces", "headers": MASKED}
    assert (await owner.patch(place, same)).status == 200
    for moved in ({}, {"headers": MASKED}):
        refused = await owner.patch(place, {"endpoint": "http://localhost:1", **moved})
        assert (refused.status, refused.code) == (409, "destination_changed")
    assert (await read_exporter(owner, made))["endpoint"] == same["endpoint"]
    # A test still reaches the first server, with the header.
    assert (await owner.post(f"{place}/test")).json()["success"] is True
    assert collector.accepted[-1].headers["X-Key"] == SECRET
    for entered in ({"headers": {"X-Key": "other"}}, {"headers": {}}):
        answer = await owner.patch(place, {"endpoint": "http://localhost:1", **entered})
        assert (answer.status, answer.json()["endpoint"]) == (200, "http://localhost:1")
    assert (await read_exporter(owner, made))["headers"] == {}


async def test_header_values_are_never_shown(owner: Api, collector: OtlpCollector, people: People) -> None:
    made = await add_exporter(owner, collector)
    place = f"{EXPORTERS}/{made['id']}"
    collector.answers = [(401, {}), (302, {"Location": "http://127.0.0.1:9/"})]
    seen = [
        await owner.get(EXPORTERS),
        await owner.get(place),
        await owner.post(f"{place}/test"),
        await owner.post(f"{place}/test"),
        await owner.patch(place, {"headers": {"X-Key": SECRET, "Host": "inner"}}),
        await owner.patch(place, {"name": "Other", "headers": {"X-Key": SECRET}}),
        await owner.get("/api/v1/audit", query={"per_page": 100}),
        await owner.get("/api/v1/audit/export"),
    ]
    assert [answer.status for answer in seen[2:6]] == [200, 200, 422, 200]
    for answer in seen:
        assert hits(answer.body, [SECRET]) == []
    async with people.context(owner.user.tenant_id) as ctx:
        rows = await ctx.unit_of_work.database.fetch("SELECT * FROM trace_exporters", [])
        assert hits(repr([tuple(row) for row in rows]).encode(), [SECRET]) == []


async def test_a_test_says_what_the_receiver_answers(owner: Api, collector: OtlpCollector) -> None:
    made = await add_exporter(owner, collector)
    place = f"{EXPORTERS}/{made['id']}/test"
    collector.is_down = True
    failed = (await owner.post(place)).json()
    assert failed == {"success": False, "message": "The receiver answered 500."}
    collector.is_down = False
    worked = (await owner.post(place)).json()
    assert worked == {"success": True, "message": "The receiver accepted the span retinue.test."}
    assert collector.names == ["retinue.test"]
    assert collector.accepted[0].path == "/v1/traces"
    assert (await read_exporter(owner, made))["sent_spans"] == 0


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"endpoint": ""}, "endpoint"),
        ({"endpoint": "ftp://127.0.0.1/x"}, "endpoint"),
        ({"endpoint": "http://169.254.169.254"}, "endpoint"),
        ({"endpoint": "http://127.0.0.1:9/?key=1"}, "endpoint"),
        ({"headers": {"A b": "c"}}, "headers"),
        ({"headers": {"Host": "inner"}}, "headers"),
        ({"headers": {"Content-Encoding": "br"}}, "headers"),
        ({"headers": {"X-Key": "a\r\nb: c"}}, "headers"),
        ({"headers": {"X-Key": "••••••••"}}, "headers"),
        ({"encoding": "xml"}, "encoding"),
        ({"sample": 1.5}, "sample"),
        ({"sample": -0.1}, "sample"),
        ({"name": ""}, "name"),
    ],
)
async def test_bad_exporters_are_refused(owner: Api, change: Json, field: str) -> None:
    answer = await owner.post(EXPORTERS, {**BODY, **change})
    assert answer.status == 422
    assert [name for name in answer.details if name.startswith(field)], answer


async def test_no_endpoint_reaches_what_tenants_may_not(make_service: ServiceMaker) -> None:
    """More than 120 URLs: every refused host with both schemes, and odd forms."""
    people = People(await make_service(base_url="https://retinue.example.com", egress_allow=()))
    owner = await people.signed_in(Role.tenant_admin)
    urls = [f"{scheme}://{host}{rest}" for host in REFUSED_HOSTS for scheme, rest in _FORMS]
    urls += [
        "http://otlp.example.com",
        "https://otlp.example.com:22",
        "https://a@otlp.example.com",
        "file:///",
    ]
    assert len(urls) >= 120
    made = (await owner.post(EXPORTERS, {**BODY, "endpoint": "https://otlp.example.com"})).json()
    for url in urls:
        answer = await owner.post(EXPORTERS, {**BODY, "endpoint": url})
        assert (answer.status, list(answer.details)) == (422, ["endpoint"]), url
        moved = await owner.patch(f"{EXPORTERS}/{made['id']}", {"endpoint": url})
        assert (moved.status, list(moved.details)) == (422, ["endpoint"]), url


_FORMS = (("https", ""), ("http", ":4318/v1/traces"))


async def test_only_its_own_tenant_sees_it(owner: Api, collector: OtlpCollector, people: People) -> None:
    made = await add_exporter(owner, collector)
    stranger = await people.signed_in(Role.tenant_admin, await people.default_tenant())
    place = f"{EXPORTERS}/{made['id']}"
    for call in (
        stranger.get(place),
        stranger.patch(place, {"enabled": False}),
        stranger.post(f"{place}/test"),
        stranger.delete(place),
    ):
        assert (await call).code == "trace_exporter_not_found"
    assert (await stranger.get(EXPORTERS)).json()["data"] == []
