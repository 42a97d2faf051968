"""Webhooks and deliveries as a list finds them, and their counts by the hour."""

import pytest

from retinue.access.models import Role
from tests.webhooks.hooks import PATH

HOUR_S, DAY_S = 3600, 24 * 3600


@pytest.fixture
async def made(hooks, receiver):
    """A webhook with a delivery of `order.placed`, a refused one of `order.paid` an hour later."""
    receiver.answers["/hook"] = [(200, {}, b"ok"), (503, {}, b"no")]
    made = await hooks.make(events=["order.*"], description="Order system")
    for type in ("order.placed", "order.paid"):
        await hooks.happen(type)
        await hooks.work()
        hooks.clock.advance(HOUR_S)
    hooks.admin.token = (await hooks.people.super_admin()).token
    return made


async def test_deliveries_are_found_by_type_text_and_time(hooks, made):
    paid, placed = await hooks.deliveries(made)
    between = hooks.clock.ahead(-1.5 * HOUR_S)
    for query, expected in (
        ({"event_type": "order.paid"}, [paid]),
        ({"event_type": "order"}, []),
        ({"search": "PLACED"}, [placed]),
        ({"search": placed["event_id"]}, [placed]),
        ({"search": paid["error"]}, [paid]),
        ({"from": between}, [paid]),
        ({"to": between}, [placed]),
        ({"from": between, "status": "delivered"}, []),
    ):
        assert await hooks.deliveries(made, **query) == expected, query
    for wrong in ({"from": "yesterday"}, {"to": "soon"}, {"search": "x" * 101}):
        answer = await hooks.call(made, "GET", "/executions", query=wrong)
        assert (answer.status, list(answer.details)) == (422, list(wrong))


async def test_found_deliveries_are_counted_over_all_pages(hooks, made):
    answer = await hooks.call(made, "GET", "/executions", query={"search": "order", "per_page": 1, "page": 2})
    found = answer.json()
    assert (found["total"], [one["event_type"] for one in found["data"]]) == (2, ["order.placed"])


async def test_statistics_tell_every_hour_or_day_also_the_empty_ones(hooks, made):
    by_hour = (await hooks.call(made, "GET", "/stats", query={"period": "24h", "interval": "hour"})).json()
    counts = [(one["delivered"], one["failed"], one["pending"]) for one in by_hour["series"]]
    assert counts == [(0, 0, 0)] * 22 + [(1, 0, 0), (0, 0, 1), (0, 0, 0)]
    starts = [one["start"] for one in by_hour["series"]]
    assert starts == sorted(set(starts))
    assert starts[-1] == hooks.clock.now()[:13] + ":00:00.000000Z"
    by_day = (await hooks.call(made, "GET", "/stats", query={"period": "90d", "interval": "day"})).json()
    assert len(by_day["series"]) == 91
    assert sum(one["delivered"] + one["pending"] for one in by_day["series"]) == 2
    assert "series" not in (await hooks.call(made, "GET", "/stats")).json()


async def test_a_long_period_is_not_told_by_the_hour(hooks, made):
    for query in ({"period": "30d", "interval": "hour"}, {"interval": "minute"}):
        answer = await hooks.call(made, "GET", "/stats", query=query)
        assert (answer.status, list(answer.details)) == (422, ["interval"])


async def test_a_list_of_webhooks_has_the_counts_of_the_last_day(hooks, made):
    other = await hooks.make("/other", events=["form.*"])
    listed = (await hooks.admin.get(PATH, query={"include": "series"})).json()["data"]
    series = {one["id"]: one["series"] for one in listed}
    expected = (await hooks.call(made, "GET", "/stats", query={"period": "24h", "interval": "hour"})).json()
    assert series[made["id"]] == expected["series"]
    assert {one["delivered"] + one["failed"] + one["pending"] for one in series[other["id"]]} == {0}
    assert all("series" not in one for one in (await hooks.admin.get(PATH)).json()["data"])


async def test_a_webhook_that_refuses_needs_a_look_and_says_since_when(hooks, made):
    fine = await hooks.make("/other", events=["form.*"])
    (refused,) = await hooks.deliveries(made, status="pending")
    attempted = (await hooks.detail(made, refused))["attempts"][0]["started_at"]
    assert (await hooks.read(made))["failing_since"] == attempted
    for query, expected in (
        ({"needs_look": "true"}, [made["id"]]),
        ({"needs_look": "false"}, [fine["id"]]),
        ({"search": "ORDER sys"}, [made["id"]]),
        ({"search": "/other"}, [fine["id"]]),
        ({"search": "nothing"}, []),
    ):
        found = (await hooks.admin.get(PATH, query=query)).json()
        assert [one["id"] for one in found["data"]] == expected, query


async def test_another_tenant_counts_and_finds_nothing(hooks, people, made):
    stranger = await people.signed_in(Role.tenant_admin, await people.tenant("Other"))
    for rest in ("/stats?interval=day", "/executions?search=order"):
        assert (await stranger.get(f"{PATH}/{made['id']}{rest}")).status == 404
    assert (await stranger.get(PATH, query={"include": "series", "search": "order"})).json()["data"] == []
