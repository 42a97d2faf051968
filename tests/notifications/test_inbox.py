"""A user's own notifications: listed, read, deleted, preferred, tested, and forgotten in time."""

import pytest

from retinue.access.models import Role
from retinue.app import Service
from retinue.kit.clock import ManualClock
from retinue.notifications.jobs import purge_notifications
from retinue.notifications.models import Inbox, UserNotification
from tests.adapters.notifying_servers import CONFIGS, Vendors
from tests.client import Api
from tests.factories.mails import last_mail, text_of
from tests.factories.notifications import NOTIFICATIONS, make_channel, notifications_of, send, titles_of
from tests.factories.people import People


async def unread(person: Api) -> int:
    answer = await person.get(f"{NOTIFICATIONS}/unread/count")
    assert answer.status == 200
    return answer.json()["count"]


@pytest.fixture
async def viewers(people: People, admin: Api, clock: ManualClock) -> tuple[Api, Api]:
    """Two viewers who each got the notifications `Number 0` to `Number 4`, in turn even and odd."""
    ada, bob = await people.signed_in(Role.viewer), await people.signed_in(Role.viewer)
    for number in range(5):
        await send(
            admin, title=f"Number {number}", type="even" if number % 2 == 0 else "odd", roles=["viewer"]
        )
        clock.advance(60)
    return ada, bob


async def first_id(person: Api) -> str:
    return (await notifications_of(person))["data"][0]["id"]


async def test_notifications_are_listed_newest_first_by_pages_and_type(viewers: tuple[Api, Api]) -> None:
    ada, _ = viewers
    page = await notifications_of(ada, per_page=2, page=2)
    assert [one["title"] for one in page["data"]] == ["Number 2", "Number 1"]
    assert (page["total"], page["unread"], page["page"], page["per_page"]) == (5, 5, 2, 2)
    assert await titles_of(ada, type="odd") == ["Number 3", "Number 1"]
    assert (await notifications_of(ada, type="odd"))["total"] == 2


async def test_what_was_read_stays_read_and_is_not_counted_as_unread(
    viewers: tuple[Api, Api], clock: ManualClock
) -> None:
    ada, bob = viewers
    id = await first_id(ada)
    read = await ada.post(f"{NOTIFICATIONS}/{id}/read")
    assert read.json() == {"id": id, "read": True, "read_at": read.json()["read_at"]}
    clock.advance(5)
    assert (await ada.post(f"{NOTIFICATIONS}/{id}/read")).json() == read.json()
    assert (await unread(ada), await unread(bob)) == (4, 5)
    assert await titles_of(ada, read="true") == ["Number 4"]
    assert (await notifications_of(ada, read="false"))["total"] == 4


async def test_nobody_reads_or_deletes_the_notification_of_somebody_else(viewers: tuple[Api, Api]) -> None:
    ada, bob = viewers
    id = await first_id(ada)
    for method, path in (("POST", f"{id}/read"), ("DELETE", id)):
        answer = await bob.request(method, f"{NOTIFICATIONS}/{path}")
        assert (answer.status, answer.code) == (404, "notification_not_found")


async def test_many_are_read_at_once_by_type_by_time_or_all(viewers: tuple[Api, Api]) -> None:
    ada, _ = viewers
    await ada.post(f"{NOTIFICATIONS}/{await first_id(ada)}/read")
    some = await ada.post(f"{NOTIFICATIONS}/read-all", {"type": "odd"})
    assert (some.status, some.json()["updated"]) == (200, 2)
    third = (await notifications_of(ada, read="false"))["data"][-1]
    older = await ada.post(f"{NOTIFICATIONS}/read-all", {"before": third["created_at"]})
    assert (older.json()["updated"], await titles_of(ada, read="false")) == (1, ["Number 2"])
    assert (await ada.post(f"{NOTIFICATIONS}/read-all", {"before": "yesterday"})).status == 422
    assert (await ada.post(f"{NOTIFICATIONS}/read-all")).json()["updated"] == 1
    assert (await ada.post(f"{NOTIFICATIONS}/read-all")).json()["updated"] == 0


async def test_what_is_deleted_is_no_longer_counted(viewers: tuple[Api, Api]) -> None:
    ada, bob = viewers
    await ada.post(f"{NOTIFICATIONS}/read-all")
    for person in (ada, bob):
        id = await first_id(person)
        assert (await person.delete(f"{NOTIFICATIONS}/{id}")).status == 204
        assert (await person.delete(f"{NOTIFICATIONS}/{id}")).status == 404
    for person, total, left in ((ada, 4, 0), (bob, 4, 4)):
        page = await notifications_of(person)
        assert (page["total"], page["unread"], len(page["data"])) == (total, left, total)


async def test_what_was_read_is_forgotten_after_90_days_and_the_rest_after_a_year(
    viewers: tuple[Api, Api], people: People, clock: ManualClock
) -> None:
    ada, bob = viewers
    await ada.post(f"{NOTIFICATIONS}/read-all")
    clock.advance(91 * 86_400)
    await purge_notifications(people.context().detached())
    ada, bob = await people.sign_in(ada.user), await people.sign_in(bob.user)
    assert ((await notifications_of(ada))["total"], (await notifications_of(bob))["total"]) == (0, 5)
    clock.advance(300 * 86_400)
    await purge_notifications(people.context().detached())
    async with people.context() as ctx:
        inboxes = await ctx.system("test").all(Inbox)
        assert await ctx.system("test").count(UserNotification) == 0
    assert {(one.total, one.unread) for one in inboxes} == {(0, 0)}


async def test_preferences_are_defaults_until_they_are_changed(people: People) -> None:
    person = await people.signed_in(Role.viewer)
    path = f"{NOTIFICATIONS}/preferences"
    before = (await person.get(path)).json()["preferences"]
    chosen = {type: [ways["in_app"], ways["email"], ways["team_chat"]] for type, ways in before.items()}
    assert chosen == {
        "workflow_completed": [True, False, False],
        "workflow_failed": [True, True, False],
        "form_submission": [True, False, False],
        "approval_requested": [True, True, True],
        "agent_training_failed": [True, False, False],
        "webhook_disabled": [True, True, False],
        "credential_expiring": [True, True, False],
        "budget_threshold": [True, True, False],
        "security_alert": [True, True, False],
        "account_pending": [True, True, False],
        "access_requested": [True, True, False],
        "tool_drifted": [True, False, False],
    }
    given = {"workflow_failed": {"email": False}, "my.own_type": {"team_chat": True}}
    after = (await person.put(path, {"preferences": given})).json()["preferences"]
    assert after == {
        **before,
        "workflow_failed": {"in_app": True, "email": False, "team_chat": False},
        "my.own_type": {"in_app": True, "email": False, "team_chat": True},
    }
    assert (await person.put(path, {"preferences": {}})).json()["preferences"] == after
    assert (await person.get(path)).json()["preferences"] == after
    for wrong in ({"workflow_failed": {"email": "yes"}}, {"Not A Type": {}}, {"x": None}, [], None):
        answer = await person.put(path, {"preferences": wrong})
        assert (answer.status, answer.code) == (422, "validation_error"), (wrong, answer)


TEST = f"{NOTIFICATIONS}/test"


async def test_a_test_is_shown_to_the_caller(people: People) -> None:
    person = await people.signed_in(Role.viewer)
    inside = await person.post(TEST, {"channel_type": "in_app", "message": "Is anyone there?"})
    assert set(inside.json()) == {"success", "channel_type", "message", "delivery_time_ms"}
    (shown,) = (await notifications_of(person))["data"]
    assert (shown["type"], shown["message"]) == ("test", "Is anyone there?")


async def test_a_test_by_mail_goes_to_the_caller_whoever_else_is_named(
    service: Service, people: People, admin: Api, companies: Vendors
) -> None:
    """W7: `notifications/test` with another address."""
    person = await people.signed_in(Role.viewer)
    tricks = {"to": "victim@example.com", "recipient": "victim@example.com", "user_id": admin.user.id}
    by_system = await person.post(TEST, {"channel_type": "email", "message": "Hi", **tricks})
    assert by_system.json()["success"] is True
    assert "Hi" in text_of(await last_mail(service, person.user.email))
    await make_channel(admin, "sendgrid", CONFIGS["sendgrid"])
    by_channel = await person.post(TEST, {"channel_type": "email", "message": "a\r\nBcc: x", **tricks})
    assert by_channel.json()["success"] is True
    (mail,) = companies.requests
    assert mail.json["personalizations"] == [{"to": [{"email": person.user.email}]}]


async def test_a_test_that_cannot_reach_the_caller_says_so(people: People) -> None:
    person = await people.signed_in(Role.viewer)
    for type in ("sms", "team_chat", "webhook"):
        answer = await person.post(TEST, {"channel_type": type})
        assert (answer.status, answer.json()["success"]) == (200, False)
    assert (await person.post(TEST, {"channel_type": "fax"})).status == 422
    unverified = await people.sign_in(await people.user(Role.viewer, email_verified=False))
    assert (await unverified.post(TEST, {"channel_type": "email"})).json()["success"] is False


async def test_tests_are_limited_by_the_minute(people: People, clock: ManualClock) -> None:
    person = await people.signed_in(Role.viewer)
    statuses = [(await person.post(TEST, {})).status for _ in range(11)]
    assert (statuses[0], statuses[-1]) == (200, 429)
    clock.advance(61)
    assert (await person.post(TEST, {})).status == 200
