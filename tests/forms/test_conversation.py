"""A form that is filled in by talking, without any model."""

import pytest

from tests.factories.form_talks import Talk
from tests.factories.forms import EMAIL, NAME, address, make_form, submission, submissions, upload
from tests.factories.happenings import events
from tests.forms.fields import TEAM, TOPIC
from tests.forms.tables import TABLES, make_table


@pytest.fixture
async def contact(person):
    return await make_form(person, NAME, EMAIL, TOPIC, TEAM, settings={"success_message": "Bye."})


# What a visitor says, and then what was captured and refused, and which field is asked for.
ANSWERS = (
    ("Ada Lovelace", {"name": "Ada Lovelace"}, {}, "email"),
    ("you know it", {}, {"email": "must be an e-mail address"}, "email"),
    ("skip", {}, {}, "topic"),
    ("the first? no, sales please", {"topic": "s1"}, {}, "team"),
    ("my name is Countess Ada", {"name": "Countess Ada"}, {}, "team"),
    ("0", {}, {"team": "must be at least 1"}, "team"),
    ("we are 12 people", {"team": 12}, {}, None),
)


async def completed_talk(api, form) -> Talk:
    talk = await Talk.begin(api, form, metadata={"campaign": "x"})
    for text, *_ in ANSWERS:
        await talk.say(text)
    return talk


async def test_a_conversation_begins_by_asking_for_the_first_field(api, contact) -> None:
    answer = await api.post(address(contact, "conversations"), {"metadata": {"campaign": "x"}})
    assert answer.status == 201
    assert answer.headers["cache-control"] == "no-store"
    started = answer.json()["data"]
    assert (
        started.items()
        >= {
            "form_slug": contact["slug"],
            "status": "active",
            "fields_completed": 0,
            "fields_total": 3,
            "collected_data": {},
            "input": {"field_id": "name", "type": "text", "options": [], "required": True},
            "errors": [],
        }.items()
    )
    first = started["assistant_message"]
    assert first.keys() == {"id", "role", "content", "field_id", "created_at"}
    assert (first["role"], first["field_id"]) == ("assistant", "name")
    assert "Contact" in first["content"]
    assert first["content"].endswith("Name?")


async def test_answers_are_captured_corrected_and_refused_field_by_field(api, contact) -> None:
    talk = await Talk.begin(api, contact)
    for text, captured, errors, asked in ANSWERS:
        await talk.say(text)
        assert (talk.captured, talk.errors, talk.asked) == (captured, errors, asked), text


async def test_each_answer_tells_how_many_fields_are_complete(api, contact) -> None:
    talk = await Talk.begin(api, contact)
    await talk.say("Ada Lovelace")
    assert (talk.last["fields_completed"], talk.last["form_completed"]) == (1, False)
    assert "submission_id" not in talk.last
    assert talk.last["user_message"].items() >= {"role": "user", "content": "Ada Lovelace"}.items()
    await talk.say("skip")
    assert talk.last["fields_completed"] == 2
    await talk.say("sales")
    assert talk.last["fields_total"] == 4, "of sales, the team size is asked as well"


async def test_a_conversation_says_what_was_wrong_what_can_be_chosen_and_what_was_sent(api, contact) -> None:
    talk = await Talk.begin(api, contact)
    await talk.say("Ada Lovelace")
    await talk.say("you know it")
    assert "must be an e-mail address" in talk.said
    await talk.say("skip")
    assert talk.last["input"]["options"] == TOPIC["options"]
    assert "1. Sales\n2. Support" in talk.said
    await talk.say("sales")
    await talk.say("12")
    assert talk.said.endswith("Bye.")
    assert "- Topic: Sales" in talk.said


async def test_the_last_answer_submits_the_form(person, api, people, contact) -> None:
    talk = await completed_talk(api, contact)
    last = talk.last
    assert (last["form_completed"], last["status"], last["input"]) == (True, "completed", None)
    kept = await submission(person, contact, last["submission_id"])
    assert kept["data"] == {"name": "Countess Ada", "topic": "s1", "team": 12}
    assert kept["metadata"].items() >= {"source": "conversation", "campaign": "x"}.items()
    (told,) = await events(people, "form.submission.created")
    assert told.data["submission_id"] == kept["id"]
    shown = await talk.look()
    assert (shown["status"], shown["submission_id"]) == ("completed", kept["id"])
    assert shown["collected_data"] == kept["data"]
    assert (await submissions(person, contact))["pagination"]["total"] == 1


async def test_a_completed_conversation_is_shown_and_not_continued(person, api, contact) -> None:
    talk = await completed_talk(api, contact)
    messages = await talk.history()
    assert [one["role"] for one in messages] == ["assistant", *(["user", "assistant"] * 7)]
    assert [one.get("field_id") for one in messages[::2]] == [
        "name",
        "email",
        "email",
        "topic",
        "team",
        "team",
        "team",
        None,
    ]
    refused = await talk.post("more")
    assert (refused.status, refused.code) == (409, "conversation_closed")
    assert (await submissions(person, contact))["pagination"]["total"] == 1


@pytest.fixture
async def long_talk(person, api) -> Talk:
    form = await make_form(
        person, NAME, {**EMAIL, "required": True}, TOPIC, TEAM, {"id": "x", "type": "text"}
    )
    return await Talk.begin(api, form)


@pytest.mark.either_database
async def test_several_answers_are_taken_from_one_message_and_corrected(long_talk) -> None:
    talk = long_talk
    await talk.say("Name: Ada\nE-mail: ada@example\nTopic: sales\nteam: 3")
    assert talk.captured == {"name": "Ada", "topic": "s1", "team": 3}
    assert talk.errors == {"email": "must be an e-mail address"}
    assert talk.asked == "email"
    await talk.say("change topic to Support")
    assert (talk.captured, talk.asked) == ({"topic": "s2"}, "email")
    assert (await talk.look())["collected_data"] == {"name": "Ada", "topic": "s2"}, "team is hidden now"
    await talk.say("write to ada@example.com, please")
    assert (talk.captured, talk.asked) == ({"email": "ada@example.com"}, "x")


@pytest.mark.either_database
async def test_a_visitor_goes_back_and_answers_again(person, long_talk) -> None:
    talk = long_talk
    await talk.say("Name: Ada\nE-mail: ada@example.com\nTopic: support")
    await talk.say("back")
    assert talk.asked == "topic"
    await talk.say("back")
    assert (talk.asked, talk.last["fields_completed"]) == ("email", 1)
    await talk.say("bob@example.com")
    await talk.say("2")
    await talk.say("change name")
    assert (talk.captured, talk.asked) == ({}, "name")
    await talk.say("skip")
    assert (talk.errors, talk.asked) == ({"name": "is required"}, "name")
    await talk.say("Bob")
    await talk.say("none")
    assert talk.last["form_completed"]
    kept = await submission(person, talk.form, talk.last["submission_id"])
    assert kept["data"] == {"name": "Bob", "email": "bob@example.com", "topic": "s2"}


async def test_with_confirm_nothing_is_sent_before_a_yes(person, api) -> None:
    form = await make_form(
        person, NAME, EMAIL, settings={"conversational": {"confirm": True, "greeting": "Hi!"}}
    )
    talk = await Talk.begin(api, form, prefill={"name": "Ada"})
    assert talk.said == "Hi!\n\nE-mail? (optional, or say “skip”)"
    await talk.say("ada@example.com")
    options = [one["value"] for one in talk.last["input"]["options"]]
    assert (talk.last["form_completed"], talk.last["input"]["type"], options) == (
        False,
        "confirm",
        ["yes", "no"],
    )
    assert "- E-mail: ada@example.com" in talk.said
    for text, shown in (("hm", "not understand"), ("no", "What should be changed?")):
        await talk.say(text)
        assert not talk.last["form_completed"]
        assert shown in talk.said
    await talk.say("change e-mail to nowhere")
    assert (talk.errors, talk.last["form_completed"]) == ({"email": "must be an e-mail address"}, False)
    await talk.say("E-mail: a@b.de")
    assert (talk.captured, talk.last["form_completed"]) == ({"email": "a@b.de"}, False)
    assert (await submissions(person, form))["pagination"]["total"] == 0
    await talk.say("Yes, please!")
    kept = await submission(person, form, talk.last["submission_id"])
    assert kept["data"] == {"name": "Ada", "email": "a@b.de"}


@pytest.fixture
async def form_with_hidden(person):
    """A form with two hidden fields, of which the first must be prefilled."""
    return await make_form(
        person,
        NAME,
        EMAIL,
        {"id": "ref", "type": "hidden", "required": True},
        {"id": "plan", "type": "hidden", "default_value": "basic"},
        TOPIC,
        TEAM,
    )


@pytest.mark.either_database
async def test_prefilled_values_are_kept_if_they_are_valid(person, api, form_with_hidden) -> None:
    form = form_with_hidden
    refused = await api.post(address(form, "conversations"), {"prefill": {"name": "Ada"}})
    assert (refused.status, refused.details["errors"]) == (400, [{"field": "ref", "message": "is required"}])
    talk = await Talk.begin(
        api, form, prefill={"ref": "r1", "email": "x", "team": 4, "topic": "s1", "nobody": 1, "name": ""}
    )
    assert talk.errors == {"email": "must be an e-mail address"}
    assert "must be an e-mail address" in talk.said
    assert talk.started["collected_data"] == {"ref": "r1", "plan": "basic", "topic": "s1", "team": 4}
    assert (talk.started["fields_completed"], talk.started["fields_total"]) == (2, 4)
    await talk.say("Ada", field_id="name")
    await talk.say("skip")
    kept = await submission(person, form, talk.last["submission_id"])
    assert kept["data"] == {"ref": "r1", "plan": "basic", "topic": "s1", "team": 4, "name": "Ada"}


@pytest.mark.either_database
async def test_no_answer_changes_a_hidden_field(api, form_with_hidden) -> None:
    talk = await Talk.begin(api, form_with_hidden, prefill={"ref": "r1", "team": 4, "topic": "s1"})
    for text in ("ref: evil", "change plan to gold", "plan is gold"):
        await talk.say(text)
        assert talk.captured.keys() <= {"name", "email"}
        assert (await talk.look())["collected_data"].items() >= {"ref": "r1", "plan": "basic"}.items()
    for field_id in ("ref", "plan", "nobody"):
        await talk.say("evil", field_id=field_id)
        assert (talk.captured, talk.errors) == ({}, {field_id: "is not asked for"})


@pytest.mark.either_database
async def test_a_form_that_is_prefilled_completely_is_sent_after_a_yes(api, form_with_hidden) -> None:
    prefill = {"ref": "r", "name": "A", "email": "a@b.de", "topic": "s2"}
    whole = await Talk.begin(api, form_with_hidden, prefill=prefill)
    assert (whole.last["status"], whole.last["input"]["type"]) == ("active", "confirm"), "never at the start"
    assert (await whole.say("yes"))["form_completed"]


@pytest.mark.either_database
async def test_a_conversation_that_begins_with_nonsense_is_refused(api, form_with_hidden) -> None:
    for body in ({"prefill": []}, {"language": "<b>"}, {"metadata": 7}, {"metadata": {"x": "y" * 5000}}):
        answer = await api.post(address(form_with_hidden, "conversations"), body)
        assert answer.status in {400, 422}, body


async def test_files_are_sent_not_said(person, api) -> None:
    paper = {"id": "paper", "type": "file", "label": "Paper", "required": True}
    form = await make_form(person, NAME, paper)
    other = await make_form(person, NAME, paper)
    file_id = (await upload(api, form)).json()["data"]["file_id"]
    foreign = (await upload(api, other)).json()["data"]["file_id"]
    talk = await Talk.begin(api, form)
    await talk.say("Ada")
    for body in (
        {"content": file_id},
        {"file_ids": [foreign]},
        {"file_ids": ["file_" + "a" * 26]},
        {"file_ids": [file_id], "field_id": "name"},
        {"file_ids": [file_id, file_id]},
    ):
        await talk.say(**body)
        assert (talk.captured, talk.asked) == ({}, "paper"), body
    for body in ({"file_ids": ["x"] * 21}, {"file_ids": "x"}, {"content": " "}, {}, {"content": None}):
        assert (await api.post(talk.path("messages"), body)).status == 422, body
    await talk.say(file_ids=[file_id])
    kept = await submission(person, form, talk.last["submission_id"])
    assert (kept["data"]["paper"], kept["files"][0]["file_id"]) == (file_id, file_id)
    again = await Talk.begin(api, form, prefill={"name": "Bob", "paper": file_id})
    assert again.asked == "paper", "single use"


@pytest.mark.either_database
async def test_options_of_a_data_table_are_named_by_their_labels(person, api) -> None:
    table = await make_table(person, {"name": "code", "type": "text"}, {"name": "city", "type": "text"})
    for code, city in (("P", "Paris"), ("B", "Berlin")):
        await person.post(f"{TABLES}/{table['id']}/rows", {"code": code, "city": city})
    source = {"table_id": table["id"], "value_column": "code", "label_column": "city"}
    form = await make_form(
        person, {"id": "city", "type": "select", "label": "City", "required": True, "data_source": source}
    )
    talk = await Talk.begin(api, form)
    assert talk.started["input"]["options"] == [
        {"value": "B", "label": "Berlin"},
        {"value": "P", "label": "Paris"},
    ]
    await talk.say("Rome")
    assert talk.errors == {"city": "is not one of the options"}
    await talk.say("in paris, i think")
    assert "City: Paris" in talk.said
    assert (await submission(person, form, talk.last["submission_id"]))["data"] == {"city": "P"}


@pytest.mark.either_database
async def test_a_file_that_expires_meanwhile_is_asked_for_again(person, api, clock, people) -> None:
    form = await make_form(person, {"id": "paper", "type": "file", "label": "Paper"}, NAME, EMAIL)
    talk = await Talk.begin(api, form)
    await talk.say(file_ids=[(await upload(api, form)).json()["data"]["file_id"]])
    clock.advance(23 * 3600)
    await talk.say("Ada")
    clock.advance(2 * 3600)
    await talk.say("skip")
    assert (talk.last["form_completed"], talk.asked) == (False, "paper")
    assert talk.errors == {"paper": "names a file that was not uploaded for this field"}
    await talk.say("skip")
    person = await people.sign_in(person.user)
    kept = await submission(person, form, talk.last["submission_id"])
    assert kept["data"] == {"name": "Ada"}
