"""An object that was read may be sent back as it is, even strictly (ADR 42)."""

import pytest

from retinue.access.models import Role
from retinue.kit.http.routing import EMBED_KEY, PUBLIC, Route
from tests.contract.routes import ROUTES, call, label
from tests.contract.unknown_names import STRICT, UNKNOWN, warnings_of
from tests.contract.world import known_ids
from tests.factories.people import People

SUBSCRIPTION = {
    "event_type": "agent.created",
    "action_type": "notification",
    "action_config": {"title": "New"},
}
_READS = {route.path: route for route in ROUTES if route.method == "GET"}
_SETS_ANOTHER_OBJECT = {"set_model_price", "update_table_rows"}
"""The GET of the same path is a list."""
CHANGES = [
    route
    for route in ROUTES
    if route.method in {"PUT", "PATCH"}
    and route.body is not None
    and route.path in _READS
    and route.requires not in {PUBLIC, EMBED_KEY}
    and route.name not in _SETS_ANOTHER_OBJECT
]


@pytest.mark.parametrize("route", CHANGES, ids=label)
async def test_what_was_read_is_taken_back_by_a_strict_request(people: People, route: Route) -> None:
    admin = await people.super_admin()
    ids = await known_ids(people, admin, route.parameters)
    path = {name: found[0] for name, found in ids.items() if found} | {"role": Role.viewer.value}
    if "subscription_id" in route.parameters:
        # Those of the world have types that nobody may subscribe to.
        path["subscription_id"] = (await admin.post("/api/v1/event-subscriptions", SUBSCRIPTION)).json()["id"]
    read = await call(admin, _READS[route.path], path)
    assert read.status == 200, read
    shown = read.json().get("data", read.json())
    answer = await call(admin, route, path, json=shown, headers=STRICT)
    assert answer.status == 200, answer
    changed = answer.json().get("data", answer.json())
    for name in (warning.partition(":")[2] for warning in warnings_of(answer)):
        assert name in shown, answer
        assert name not in changed or changed[name] != shown[name], answer
    refused = await call(admin, route, path, json={**shown, UNKNOWN: 1}, headers=STRICT)
    assert (refused.status, {*refused.details}) == (422, {UNKNOWN}), refused
