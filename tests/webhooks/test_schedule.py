"""Tests of the retry schedule: seven attempts at fixed times, also across restarts."""

import itertools
from email.utils import formatdate

import pytest

from retinue.kit.webhook_signing import ATTEMPT_DELAYS_SECONDS

LONGEST_JITTER = 1.1


async def test_a_delivery_is_tried_seven_times_at_its_times_across_restarts_and_then_never_again(
    hooks, receiver
):
    receiver.default = 500
    made = await hooks.make()
    await hooks.happen()
    moments = []
    for number, delay in enumerate(ATTEMPT_DELAYS_SECONDS):
        if delay:
            hooks.clock.advance(delay - 1)
            await hooks.work()
            assert len(receiver.received) == number, "never earlier than its time"
            if number in {2, 5}:
                await hooks.restart()
            hooks.clock.advance(delay * (LONGEST_JITTER - 1) + 2)
        await hooks.work()
        moments.append(int(receiver.last.headers["x-service-timestamp"]))
        sent = (len(receiver.received), receiver.last.retry_count)
        assert sent == (number + 1, str(number) if number else None)
        shown = (await hooks.deliveries(made))[0]
        assert (shown["attempt"], shown["response_code"]) == (number + 1, 500)
        if number < 6:
            ahead = shown["next_attempt_at"] > shown["created_at"]
            assert (shown["status"], shown["completed_at"], ahead) == ("pending", None, True)
    for (before, after), delay in zip(itertools.pairwise(moments), ATTEMPT_DELAYS_SECONDS[1:], strict=True):
        assert delay - 1 <= after - before <= delay * LONGEST_JITTER + 5
    bodies = {one.body for one in receiver.received}
    signatures = {one.headers["x-service-signature"] for one in receiver.received}
    assert (len(bodies), len(signatures)) == (1, 7), "the same bytes, signed anew every time"

    hooks.clock.advance(10 * 24 * 3600)
    await hooks.work()
    assert len(receiver.received) == 7
    ended = await hooks.only_delivery(made)
    attempts = [one["attempt"] for one in ended["attempts"]]
    assert (ended["status"], ended["error"], ended["next_attempt_at"], attempts) == (
        "failed",
        "http_error",
        None,
        [1, 2, 3, 4, 5, 6, 7],
    )
    assert (await hooks.read(made))["success_rate"] == 0.0


async def test_a_success_ends_the_schedule(hooks, receiver):
    receiver.answers["/hook"] = [(503, {}, b"later"), (201, {}, b"thanks")]
    made = await hooks.make()
    await hooks.happen()
    await hooks.work()
    hooks.clock.advance(67)
    await hooks.work()
    hooks.clock.advance(400_000)
    await hooks.work()
    assert len(receiver.received) == 2
    ended = await hooks.only_delivery(made)
    assert (ended["status"], ended["attempt"], ended["error"]) == ("delivered", 2, None)
    assert ended["completed_at"]
    assert [(one["response_code"], one["response_body"]) for one in ended["attempts"]] == [
        (503, "later"),
        (201, "thanks"),
    ]


@pytest.mark.parametrize(
    ("retry_after", "earliest", "latest"),
    [("90", 90, 91), ("100000", 120, 121), ("5", 60, 67), ("soon", 60, 67), ("a date", 101, 102)],
)
async def test_a_receiver_may_ask_for_up_to_twice_the_time_and_never_for_less(
    hooks, receiver, retry_after, earliest, latest
):
    headers = {"Retry-After": retry_after}
    if retry_after == "a date":
        # The receiver's clock is an hour ahead of ours.
        ahead = hooks.clock.time() + 3600
        headers = {
            "Date": formatdate(ahead, usegmt=True),
            "Retry-After": formatdate(ahead + 101, usegmt=True),
        }
    receiver.answers["/hook"] = [(429, headers, b"")]
    await hooks.make()
    await hooks.happen()
    await hooks.work()
    hooks.clock.advance(earliest - 1)
    await hooks.work()
    assert len(receiver.received) == 1
    hooks.clock.advance(latest - earliest + 1)
    await hooks.work()
    assert len(receiver.received) == 2


async def test_the_schedule_is_the_operators(make_service, receiver):
    from tests.factories.people import People
    from tests.webhooks.hooks import Hooks

    service = await make_service(webhook_retry_schedule=(0, 1, 2))
    people = People(service)
    hooks = Hooks(service, people, await people.super_admin(), receiver)
    receiver.default = 410
    made = await hooks.make()
    await hooks.happen()
    for _ in range(4):
        await hooks.work()
        hooks.clock.advance(2.3)
    assert [one.retry_count for one in receiver.received] == [None, "1", "2"]
    assert (await hooks.only_delivery(made))["status"] == "failed"


FAILURES = {
    "/moved": (302, {"Location": "/elsewhere"}, "http_error"),
    "/gone": (410, {}, "http_error"),
    "/odd": (304, {}, "http_error"),
}


async def test_only_a_2xx_from_where_it_points_is_a_success(hooks, receiver, make_service):
    made = {path: await hooks.make(path) for path in FAILURES}
    for path, (status, headers, _) in FAILURES.items():
        receiver.answers[path] = [(status, headers, b"")]
    nowhere = await hooks.make("/")
    await hooks.call(nowhere, "PUT", "", json={"url": "http://127.0.0.1:1/"})
    await hooks.happen()
    await hooks.work()
    assert sorted(one.path for one in receiver.received) == sorted(FAILURES), "no redirect is followed"
    for path, (status, _, error) in FAILURES.items():
        (shown,) = await hooks.deliveries(made[path])
        assert (shown["status"], shown["response_code"], shown["error"]) == ("pending", status, error)
    (shown,) = await hooks.deliveries(nowhere)
    assert (shown["response_code"], shown["error"]) == (None, "network_error")
    assert shown["error_message"] == "The destination could not be reached."
