"""Submissions, in public and signed in: what is kept, what is refused, and how often one may."""

import hashlib
from itertools import count

import pytest

from retinue.access.models import Role
from tests.client import Api
from tests.factories.forms import EMAIL, NAME, PATH, address, make_form, send, submission, submissions, submit
from tests.factories.happenings import events
from tests.factories.people import People


async def test_a_submission_is_kept_as_it_was_checked(person, api, people) -> None:
    form = await make_form(
        person, NAME, EMAIL, settings={"success_message": "Thanks!", "redirect_url": "/next"}
    )
    answer = await send(
        api,
        form,
        {"name": "Ada", "email": " ada@example.com ", "other": 1},
        metadata={"ip_address": "1.2.3.4", "user_agent": "me", "campaign": "x", "source": "newsletter"},
        status="processed",
        form_id="frm_x",
        id="sbm_mine",
    )
    assert answer.status == 201
    assert answer.json()["message"] == "Thanks!"
    assert answer.json()["data"].keys() == {"submission_id", "status", "redirect_url"}
    id = answer.json()["data"]["submission_id"]
    kept = await submission(person, form, id)
    expected = {
        "data": {"name": "Ada", "email": "ada@example.com"},
        "metadata": {
            "source": "newsletter",
            "campaign": "x",
            "ip_address": "203.0.113.7",
            "user_agent": "",
        },
        "status": "received",
        "form_id": form["id"],
        "files": [],
        "submitted_by": None,
    }
    assert {name: kept[name] for name in expected} == expected
    (told,) = await events(people, "form.submission.created")
    assert (told.data["submission_id"], told.data["data"]) == (id, kept["data"])


async def test_a_submission_of_someone_signed_in_is_theirs(person) -> None:
    form = await make_form(person, NAME, EMAIL)
    own = await person.post(
        f"{PATH}/{form['id']}/submit", {"data": {"name": "Bob"}}, headers={"user-agent": "me"}
    )
    body = own.json()
    assert body["data"].keys() == {
        "submission_id",
        "form_id",
        "status",
        "workflow_execution_id",
        "created_at",
    }
    assert (body["data"]["status"], body["data"]["workflow_execution_id"]) == ("received", None)
    kept = await submission(person, form, body["data"]["submission_id"])
    assert (kept["metadata"]["source"], kept["metadata"]["user_agent"]) == ("api", "me")
    assert kept["submitted_by"] == person.user.id


@pytest.fixture
async def strict_form(person):
    return await make_form(person, NAME, {**EMAIL, "required": True}, {"id": "age", "type": "number"})


def ways_in(form, api, person):
    """Return the public way and the one for people who signed in, each with its caller."""
    return ((address(form, "submit"), api), (f"{PATH}/{form['id']}/submit", person))


async def test_every_mistake_comes_back_at_once_and_nothing_is_kept(person, api, strict_form) -> None:
    for where, caller in ways_in(strict_form, api, person):
        answer = await caller.post(where, {"data": {"email": "nobody", "age": "x"}})
        assert (answer.status, answer.code) == (400, "validation_error")
        assert [error["field"] for error in answer.details["errors"]] == ["name", "email", "age"]
        for body in ({}, {"data": None}, {"data": []}, {"data": "x"}):
            answer = await caller.post(where, body)
            assert (answer.status, [error["field"] for error in answer.details["errors"]]) == (400, ["data"])
        good = {"name": "Ada", "email": "a@b.de"}
        for metadata in (7, ["x"], {"x": "y" * 4096}):
            answer = await caller.post(where, {"data": good, "metadata": metadata})
            assert (answer.status, [error["field"] for error in answer.details["errors"]]) == (
                400,
                ["metadata"],
            )
    assert (await submissions(person, strict_form))["pagination"]["total"] == 0


async def test_a_body_that_is_no_json_or_too_large_is_refused(person, api, strict_form) -> None:
    for where, caller in ways_in(strict_form, api, person):
        assert (
            await caller.post(where, content=b"{", headers={"content-type": "application/json"})
        ).code == "invalid_json"
        assert (
            await caller.post(where, content=b"a=1", headers={"content-type": "text/plain"})
        ).status == 415
        assert (await caller.post(where, {"data": {"name": "x" * 1_100_000}})).status == 413
    assert (await submissions(person, strict_form))["pagination"]["total"] == 0


async def test_a_form_that_does_not_exist_takes_no_submission(api) -> None:
    assert (
        await api.post("/api/v1/public/forms/nobody-has-this/submit", {"data": {}})
    ).code == "form_not_found"
    assert (await api.post("/api/v1/public/forms/..%2F..%2Fetc/submit", {"data": {}})).status == 404


async def test_the_same_idempotency_key_submits_once(person, api, people) -> None:
    form = await make_form(person)
    key = {"Idempotency-Key": "one"}
    first = await api.post(address(form, "submit"), {"data": {"name": "Ada"}}, headers=key)
    second = await api.post(address(form, "submit"), {"data": {"name": "Ada"}}, headers=key)
    other = await api.post(address(form, "submit"), {"data": {"name": "Bob"}}, headers=key)
    assert (first.status, second.status, other.code) == (201, 201, "idempotency_key_reused")
    assert first.json() == second.json()
    assert second.headers["idempotent-replayed"] == "true"
    assert (await submissions(person, form))["pagination"]["total"] == 1
    assert len(await events(people, "form.submission.created")) == 1


@pytest.mark.either_database
async def test_who_submits_too_often_is_told_when_to_come_back(
    make_service, people, person, api, clock
) -> None:
    form = await make_form(person, settings={"limits": {"submit": 5, "total": 8}})
    statuses = [
        (
            await api.post(
                address(form, "submit"), {"data": {"name": "A"}}, headers={"x-forwarded-for": f"10.0.0.{n}"}
            )
        ).status
        for n in range(6)
    ]
    assert statuses == [201] * 5 + [429]
    refused = await send(api, form)
    assert refused.code == "rate_limit_exceeded"
    assert refused.details["limit"] == 5
    assert (refused.headers["x-ratelimit-remaining"], refused.headers["x-ratelimit-limit"]) == ("0", "5")
    assert int(refused.headers["retry-after"]) > 0
    statuses = [(await send(api.at(f"198.51.100.{n}"), form)).status for n in range(4)]
    assert statuses == [201, 201, 201, 429]
    clock.advance(61)
    assert (await send(api, form)).status == 201
    plain = await make_form(person)
    assert [(await send(api, plain)).status for _ in range(61)] == [201] * 60 + [429]
    assert (await api.get(address(plain))).status == 200


@pytest.mark.either_database
async def test_a_flood_is_refused_with_the_same_code_whatever_limit_is_reached_first(
    make_service, clock
) -> None:
    """On plan Free the window of the plan is spent before the form's own limit."""
    service = await make_service(default_plan="free")
    api = Api(service)
    person = await People(service).signed_in(Role.agent_developer)
    form = await make_form(person)
    answers = [await send(api, form) for _ in range(61)]
    refused = [answer for answer in answers if answer.status == 429]
    assert refused
    assert {answer.code for answer in refused} == {"rate_limit_exceeded"}
    assert all(int(answer.headers["x-ratelimit-window"]) in {60, 3600} for answer in refused)
    assert all(int(answer.headers["retry-after"]) > 0 for answer in refused)
    assert (await api.get(address(form))).code == "rate_limited"
    clock.advance(3600)
    path = f"{PATH}/{form['id']}/submit"
    signed_in = [await person.post(path, {"data": {"name": "Ada"}}) for _ in range(61)]
    assert {answer.code for answer in signed_in if answer.status == 429} == {"rate_limit_exceeded"}
    clock.advance(3600)
    unknown = [await api.post("/api/v1/public/forms/nobody/submit", {"data": {}}) for _ in range(130)]
    assert {answer.code for answer in unknown} == {"form_not_found", "rate_limit_exceeded"}


async def test_what_only_programs_do_is_not_kept(people, person, api, clock) -> None:
    form = await make_form(
        person, settings={"spam": {"honeypot": True, "min_seconds": 3, "proof_of_work": 8}}
    )
    trapped = await send(api, form, {"name": "Bot", "website": "https://spam.example"})
    assert trapped.status == 201
    shown = (await api.get(address(form))).json()["data"]
    assert shown["settings"] == {"proof_of_work": 8, "honeypot": "website"}
    token = shown["token"]

    def proof() -> str:
        for number in count():
            if hashlib.sha256(f"{token}:{number}".encode()).digest()[0] == 0:
                return str(number)
        raise AssertionError

    good = {"token": token, "proof": proof()}
    assert [error["field"] for error in (await send(api, form, **good)).details["errors"]] == ["token"]
    clock.advance(4)
    for wrong, field in (
        ({}, "token"),
        ({"token": 7}, "token"),
        ({"token": "1.2.x"}, "token"),
        ({**good, "proof": "no"}, "proof"),
        ({"token": token.replace(token.split(".")[1], "1"), "proof": good["proof"]}, "token"),
    ):
        answer = await send(api, form, **wrong)
        assert [error["field"] for error in answer.details["errors"]] == [field], wrong
    assert (await send(api, form, **good)).status == 201
    clock.advance(24 * 3600)
    assert (await send(api, form, **good)).status == 400
    person = await people.sign_in(person.user)
    assert (await submissions(person, form))["pagination"]["total"] == 1


async def test_a_form_closes_by_its_number_its_time_and_its_user(people, person, api, clock) -> None:
    form = await make_form(person, settings={"submit_limit": 2})
    assert [(await send(api, form)).status for _ in range(3)] == [201, 201, 409]
    assert (await send(api, form)).code == "form_closed"
    timed = await make_form(person, settings={"close_at": "2027-01-15T08:00:10Z"})
    assert (await send(api, timed)).status == 201
    clock.advance(20)
    assert (await send(api, timed)).code == "form_closed"
    single = await make_form(person, settings={"one_per_user": True})
    body = {"data": {"name": "Ada"}}
    answers = [await person.post(f"{PATH}/{single['id']}/submit", body) for _ in range(2)]
    assert [answer.status for answer in answers] == [201, 409]
    assert answers[1].code == "already_submitted"
    other = await people.signed_in(Role.agent_user)
    assert (await other.post(f"{PATH}/{single['id']}/submit", body)).status == 201


async def test_the_public_form_shows_what_a_page_needs_and_no_more(person, api) -> None:
    form = await make_form(
        person,
        NAME,
        {"id": "c", "type": "radio", "options": ["a", {"value": 2, "label": "Two"}]},
        description="<img src=x onerror=alert(1)>",
        workflow_id="wf_secret",
        data_table_config={"table_id": "tbl_secret"},
        branding={"primary_color": "#fff"},
        settings={
            "submit_button_text": "Go",
            "notifications": {"email": "boss@example.com"},
            "limits": {"submit": 9},
            "spam": {"honeypot": True},
        },
    )
    answer = await api.get(
        address(form), headers={"authorization": "Bearer nonsense", "origin": "https://a.example"}
    )
    shown = answer.json()["data"]
    assert shown.keys() == {"name", "slug", "description", "fields", "branding", "settings"}
    assert shown["settings"] == {"submit_button_text": "Go", "honeypot": "website"}
    assert not any(word in answer.body for word in (b"secret", b"boss@", b"frm_", b"usr_", b"ten_"))
    assert answer.headers["access-control-allow-origin"] == "*"
    options = (await api.get(address(form, "fields", "c", "options"))).json()["data"]
    assert options == [{"value": "a", "label": "a"}, {"value": 2, "label": "Two"}]
    assert (await api.get(address(form, "fields", "c", "options"), query={"search": "tw"})).json()[
        "data"
    ] == options[1:]
    assert (await api.get(address(form, "fields", "x", "options"))).code == "field_not_found"
    embed = (await api.get(address(form, "embed"))).json()["data"]
    assert form["slug"] in embed["script_embed"]
    assert embed["iframe_embed"].startswith("<iframe src=")


async def test_answers_can_be_saved_on_the_way_and_taken_up_again(person, api, clock) -> None:
    form = await make_form(person)
    session = "a-session-nobody-guesses"
    where = address(form, "progress", session)
    saved = await api.put(where, {"data": {"name": "A", "unknown": 1}, "last_field_id": "name"})
    assert saved.json()["data"].keys() == {"session_id", "resume_url", "saved_at"}
    clock.advance(30)
    await api.put(where, {"data": {"name": "Ada"}, "last_field_id": "nothing"})
    resumed = (await api.get(where)).json()["data"]
    assert (resumed["data"], resumed["last_field_id"]) == ({"name": "Ada"}, "name")
    assert (await api.get(address(form, "progress", "b" * 20))).status == 404
    assert (await api.put(address(form, "progress", "short"), {})).details.keys() == {"session_id"}
    clock.advance(30)
    await submit(api, form, session_id=session)
    assert (await api.get(where)).status == 404
    analytics = (await person.get(f"{PATH}/{form['id']}/analytics")).json()["data"]
    assert analytics["avg_completion_time_seconds"] == 60.0
    assert analytics["total_starts"] == 1
