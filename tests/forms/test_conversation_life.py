"""Tests of a conversation's life: who may continue it, how often, concurrently, and for how long."""

import asyncio

import pytest

from retinue.access.models import Role
from retinue.forms.conversation import turns
from retinue.forms.conversation.retention import sweep_form_conversations
from retinue.forms.models import FormConversation, FormMessage
from tests.factories.form_talks import Talk
from tests.factories.forms import EMAIL, NAME, PATH, address, make_form, submissions, submit

DAY = 24 * 3600


async def sweep(people) -> None:
    await sweep_form_conversations(people.context())


async def test_the_id_opens_one_conversation_of_one_form(person, api) -> None:
    form, other = await make_form(person), await make_form(person)
    talk = await Talk.begin(api, form)
    assert len(talk.id.removeprefix("fcv_")) == 26, "130 random bits"
    for slug, id in ((other["slug"], talk.id), (form["slug"], "fcv_" + "a" * 26), (form["slug"], "x")):
        here = f"/api/v1/public/forms/{slug}/conversations/{id}"
        for answer in (
            await api.get(here),
            await api.get(f"{here}/messages"),
            await api.post(f"{here}/messages", {"content": "Ada"}),
            await api.post(f"{here}/messages/stream", {"content": "Ada"}),
            await api.post(f"{here}/cancel"),
        ):
            assert (answer.status, answer.code) == (404, "conversation_not_found")
    shown = await api.get(talk.path())
    assert shown.headers["cache-control"] == "no-store"
    assert (await api.get(address(form, "conversations"))).status == 405, "nobody lists them"
    await person.post(f"{PATH}/{form['id']}/unpublish")
    for answer in (await talk.post("Ada"), await api.post(address(form, "conversations"), {})):
        assert (answer.status, answer.code) == (404, "form_not_found")


async def test_a_cancelled_one_is_over(person, api) -> None:
    talk = await Talk.begin(api, await make_form(person))
    for _ in range(2):
        answer = await api.post(talk.path("cancel"))
        assert (answer.status, answer.json()["data"]["status"]) == (200, "cancelled")
    refused = await talk.post("Ada")
    assert (refused.status, refused.code) == (409, "conversation_closed")
    assert refused.details == {"status": "cancelled"}
    done = await Talk.begin(api, talk.form, prefill={"name": "Ada"})
    await done.say("skip")
    assert (await api.post(done.path("cancel"))).code == "conversation_closed"


async def idle_for_a_day(person, api, clock):
    """Return a form and three conversations: left for a day, continued just now, and completed a day ago."""
    form = await make_form(person, NAME, EMAIL)
    left, going, done = [await Talk.begin(api, form) for _ in range(3)]
    await left.say("Ada")
    await done.say("Bob")
    await done.say("skip")
    clock.advance(DAY - 10)
    await going.say("Eve")
    clock.advance(20)
    return form, left, going, done


async def test_an_idle_conversation_is_abandoned_after_a_day_whether_swept_or_not(
    person, api, clock, people
) -> None:
    _, left, going, done = await idle_for_a_day(person, api, clock)
    assert ((await left.look())["status"], (await left.post("x")).code) == (
        "abandoned",
        "conversation_closed",
    )
    assert (await api.get(done.path())).status == 404
    await sweep(people)
    assert ((await left.look())["status"], (await going.look())["status"]) == ("abandoned", "active")
    assert (await api.get(done.path())).status == 404


async def test_an_abandoned_conversation_is_deleted_and_stays_in_the_analytics(
    person, api, clock, people
) -> None:
    form, left, going, _ = await idle_for_a_day(person, api, clock)
    await sweep(people)
    person = await people.sign_in(person.user)
    where = f"{PATH}/{form['id']}/analytics"
    before = (await person.get(where)).json()["data"]
    assert (before["total_starts"], before["avg_completion_time_seconds"]) == (3, 0.0)
    assert before["drop_off_fields"] == [{"field_id": "email", "drop_off_rate": 33.3}]
    clock.advance(DAY - 100)
    await going.say("skip")
    clock.advance(200)
    await sweep(people)
    async with people.context(person.user.tenant_id) as ctx:
        assert [one.id for one in await ctx.db.all(FormConversation)] == [going.id]
        assert {one.conversation_id for one in await ctx.db.all(FormMessage)} == {going.id}
    assert (await api.get(left.path())).code == "conversation_not_found"
    person = await people.sign_in(person.user)
    after = (await person.get(where)).json()["data"]
    assert after["drop_off_fields"] == before["drop_off_fields"], "in the sums of the day now"
    assert (after["total_submissions"], after["top_sources"]) == (2, [{"source": "conversation", "count": 2}])


async def test_of_parallel_messages_each_is_taken_once(person, api) -> None:
    form = await make_form(person, NAME, EMAIL)
    talk = await Talk.begin(api, form)
    answers = await asyncio.gather(*(talk.post("Ada") for _ in range(4)), talk.post("a@b.de"))
    codes = sorted(answer.status for answer in answers)
    assert set(codes) <= {200, 409}
    assert sum(answer.json()["data"]["form_completed"] for answer in answers if answer.status == 200) <= 1
    if (await talk.look())["status"] == "active":
        await talk.say("a@b.de")
    assert (await submissions(person, form))["pagination"]["total"] == 1
    messages = await talk.history()
    assert [one["role"] for one in messages[1:]] == ["user", "assistant"] * (len(messages) // 2)
    again = await Talk.begin(api, form, prefill={"name": "Bob"})
    key = {"Idempotency-Key": "last"}
    said = {"content": "skip"}
    first = await api.post(again.path("messages"), said, headers=key)
    second = await api.post(again.path("messages"), said, headers=key)
    assert (first.status, first.json()) == (200, second.json())
    assert (await submissions(person, form))["pagination"]["total"] == 2


@pytest.mark.either_database
async def test_a_form_that_closes_meanwhile_is_said_to_be_closed(person, api, clock, people) -> None:
    form = await make_form(person, settings={"submit_limit": 1})
    first, second = await Talk.begin(api, form), await Talk.begin(api, form)
    await submit(api, form)
    await first.say("Ada")
    assert first.asked == "email"
    await first.say("skip")
    assert (first.last["form_completed"], first.last["status"], first.last["input"]) == (
        False,
        "cancelled",
        None,
    )
    assert (first.errors, first.said) == ({None: first.said}, "This form no longer accepts submissions.")
    assert (await first.post("again")).code == "conversation_closed"
    assert (await api.post(address(form, "conversations"), {})).code == "form_closed"
    ending = await make_form(person, settings={"close_at": "2027-01-15T09:00:00Z"})
    talk = await Talk.begin(api, ending)
    clock.advance(3601)
    await talk.say("Ada")
    assert (talk.last["status"], (await api.post(address(ending, "conversations"), {})).code) == (
        "cancelled",
        "form_closed",
    )
    person = await people.sign_in(person.user)
    assert (await submissions(person, form))["pagination"]["total"] == 1
    assert (await second.look())["status"] == "active"


@pytest.mark.either_database
async def test_a_form_that_changes_meanwhile_asks_for_what_is_new(person, api) -> None:
    form = await make_form(person, NAME, EMAIL)
    talk = await Talk.begin(api, form)
    await talk.say("Ada")
    changed = [{**NAME, "validation": {"min_length": 5}}, {"id": "age", "type": "number", "required": True}]
    assert (await person.put(f"{PATH}/{form['id']}", {"fields": changed})).status == 200
    await talk.say("36")
    assert (talk.asked, talk.last["fields_total"]) == ("name", 2), "too short by now"
    await talk.say("Ada L.")
    await talk.say("36")
    assert talk.last["form_completed"]


@pytest.mark.either_database
async def test_programs_get_no_further_than_on_the_page(person, api, clock) -> None:
    form = await make_form(person, NAME, settings={"spam": {"min_seconds": 5}, "limits": {"messages": 6}})
    talk = await Talk.begin(api, form)
    await talk.say("Ada")
    assert (talk.last["form_completed"], talk.last["input"]["type"]) == (False, "confirm")
    await talk.say("yes")
    assert not talk.last["form_completed"], "too fast"
    clock.advance(6)
    await talk.say("yes")
    assert talk.last["form_completed"]
    for _ in range(2):
        await Talk.begin(api, form)
    refused = await api.post(address(form, "conversations"), {})
    assert (refused.status, refused.code) == (429, "rate_limit_exceeded")
    assert int(refused.headers["retry-after"]) > 0
    assert (await Talk.begin(api.at("198.51.100.9"), form)).asked == "name"
    worked = await make_form(person, NAME, settings={"spam": {"proof_of_work": 8}})
    refused = await api.post(address(worked, "conversations"), {})
    assert (refused.status, refused.details["errors"][0]["field"]) == (400, "token")
    silent = await make_form(person, NAME, settings={"conversational": {"enabled": False}})
    refused = await api.post(address(silent, "conversations"), {})
    assert (refused.status, refused.code) == (409, "conversation_not_enabled")


@pytest.mark.either_database
async def test_a_conversation_ends_somewhere(person, api, monkeypatch) -> None:
    monkeypatch.setattr(turns, "MAX_MESSAGES", 5)
    talk = await Talk.begin(api, await make_form(person, NAME, {**EMAIL, "required": True}))
    for _ in range(2):
        await talk.say("back")
    refused = await talk.post("Ada")
    assert (refused.status, refused.code) == (409, "conversation_too_long")


@pytest.fixture
async def talk(person, api) -> Talk:
    return await Talk.begin(api, await make_form(person, NAME, {**EMAIL, "required": True}))


async def test_a_stream_says_the_same_in_numbered_events(talk) -> None:
    found = await talk.stream("Name: Ada\nE-mail: nowhere")
    assert [number for _, number, _ in found] == list(range(1, len(found) + 1))
    names = [name for name, _, _ in found]
    assert names[:3] == ["message_start", "field_captured", "field_rejected"]
    assert (set(names[3:-1]), names[-1]) == ({"content_delta"}, "message_stop")
    data = [data for _, _, data in found]
    assert data[0].keys() == {"conversation_id", "message_id", "user_message_id"}
    assert data[1:3] == [
        {"field_id": "name", "value": "Ada"},
        {"field_id": "email", "message": "must be an e-mail address"},
    ]
    stop = data[-1]
    assert stop["assistant_message"]["content"] == "".join(one["delta"] for one in data[3:-1])
    assert (stop["fields_completed"], stop["fields_total"], stop["form_completed"]) == (1, 2, False)
    messages = await talk.history()
    assert [one["id"] for one in messages[1:]] == [data[0]["user_message_id"], data[0]["message_id"]]


async def test_a_stream_ends_with_the_submission_and_the_conversation_is_closed(person, api, talk) -> None:
    await talk.say("Ada")
    last = (await talk.stream("ada@example.com"))[-1][2]
    assert last["form_completed"]
    assert (await submissions(person, talk.form))["data"][0]["id"] == last["submission_id"]
    over = await api.post(talk.path("messages", "stream"), {"content": "x"})
    assert (over.status, over.code) == (409, "conversation_closed")


async def test_a_stream_takes_no_idempotency_key(api, talk) -> None:
    keyed = await api.post(
        talk.path("messages", "stream"), {"content": "x"}, headers={"Idempotency-Key": "k"}
    )
    assert keyed.code == "idempotency_not_supported"


@pytest.mark.either_database
async def test_settings_of_conversations_are_checked_and_kept_inside(people, api) -> None:
    person = await people.signed_in(Role.tenant_admin)
    body = {"name": "A", "fields": [NAME]}
    for name, value in (
        ("enabled", "yes"),
        ("agent_id", 7),
        ("model", True),
        ("model", ""),
        ("greeting", "x" * 2001),
        ("tone", []),
        ("language", "x" * 36),
        ("confirm", 1),
    ):
        answer = await person.post(PATH, {**body, "settings": {"conversational": {name: value}}})
        assert (answer.status, list(answer.details)) == (422, [f"settings.conversational.{name}"])
    kept = {"enabled": True, "agent_id": "agt_x", "model": False, "tone": "kind", "greeting": "Hi", "own": 1}
    form = await make_form(person, NAME, settings={"conversational": kept})
    assert form["settings"]["conversational"] == kept
    shown = (await api.get(address(form))).json()["data"]["settings"]["conversational"]
    assert shown == {"enabled": True, "greeting": "Hi", "own": 1}
