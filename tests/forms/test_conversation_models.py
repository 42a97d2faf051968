"""A model proposes, the validator decides: what a scripted and a hostile model can and cannot do."""

import asyncio
import json

import pytest

from retinue.access.models import Role
from retinue.forms.conversation import extraction, turns
from retinue.usage.models import UsageEntry
from tests.adapters.llm_server import hanging, refusing
from tests.factories.agents import make_agent
from tests.factories.form_talks import Talk
from tests.factories.forms import EMAIL, NAME, make_form, submission
from tests.factories.people import People
from tests.factories.providers import add_key_for
from tests.factories.weights import fetch_weights
from tests.forms.fields import TEAM, TOPIC

SECRET = {"id": "role", "type": "hidden", "default_value": "guest"}
TERMS = {"id": "terms", "type": "checkbox", "label": "I agree"}


@pytest.fixture
async def owner(people, provider):
    person = await people.signed_in(Role.tenant_admin)
    await add_key_for(person, provider, models=["test-model"], is_default=True)
    return person


def proposes(provider, values=None, *, skip=(), reply="") -> None:
    provider.says(json.dumps({"values": values or {}, "skip": list(skip), "reply": reply}))


VALUES = {"name": "Ada", "email": "ada@example", "topic": "s1", "team": 12}
SAID = "I'm Ada from sales, twelve... 12 of us, write to ada@example"


@pytest.fixture
async def talk(owner, api) -> Talk:
    form = await make_form(owner, NAME, {**EMAIL, "required": True}, TOPIC, TEAM, SECRET)
    return await Talk.begin(api, form)


async def test_a_scripted_model_fills_in_several_fields_at_once(owner, talk, provider) -> None:
    assert not provider.requests, "nobody need think about a greeting"
    proposes(provider, VALUES, reply="Nice to meet you, Ada!")
    await talk.say(SAID)
    assert talk.captured == {"name": "Ada", "topic": "s1", "team": 12}
    assert talk.errors == {"email": "must be an e-mail address"}
    assert "Nice" not in talk.said, "where something was refused, only the platform speaks"
    assert talk.asked == "email"
    await talk.say("ada@example.com")
    assert len(provider.requests) == 1, "a plain answer needs no model"
    assert talk.last["form_completed"]
    kept = await submission(owner, talk.form, talk.last["submission_id"])
    assert kept["data"] == {
        "name": "Ada",
        "email": "ada@example.com",
        "topic": "s1",
        "team": 12,
        "role": "guest",
    }


async def test_the_model_is_not_told_hidden_fields_and_its_tokens_are_counted(
    owner, talk, provider, people
) -> None:
    proposes(provider, VALUES)
    await talk.say(SAID)
    asked = provider.last.json
    assert "guest" not in json.dumps(asked), "hidden fields are none of the model's business"
    assert asked["response_format"]["type"] == "json_schema"
    async with people.context(owner.user.tenant_id) as ctx:
        (used,) = [one for one in await ctx.db.all(UsageEntry) if one.chat_requests]
    assert (used.channel, used.model) == ("form", "openai_compatible/test-model")
    assert used.prompt_tokens > 0


async def test_a_question_is_answered_and_a_correction_is_taken(owner, api, provider) -> None:
    form = await make_form(owner, NAME, EMAIL, settings={"conversational": {"tone": "pirate"}})
    talk = await Talk.begin(api, form, language="de")
    proposes(provider, reply="Damit wir Sie ansprechen können.")
    await talk.say("Wozu brauchen Sie das?")
    assert (talk.captured, talk.asked) == ({}, "name")
    assert talk.said.startswith("Damit wir")
    assert talk.said.endswith("Name?")
    prompt = provider.last.json["messages"][0]["content"]
    assert "pirate" in prompt
    assert "de." in prompt
    proposes(provider, {"name": "Bob"}, reply="Danke!")
    await talk.say("na gut, Bob")
    proposes(provider, {"name": "Robert"}, skip=["email"])
    await talk.say("oder lieber Robert, und Mail habe ich keine")
    assert (talk.captured, talk.last["form_completed"]) == ({"name": "Robert"}, True)
    assert (await submission(owner, form, talk.last["submission_id"]))["data"] == {"name": "Robert"}


@pytest.mark.either_database
async def test_a_model_that_only_chats_does_not_keep_a_visitor_for_ever(owner, api, provider) -> None:
    talk = await Talk.begin(api, await make_form(owner, NAME, EMAIL))
    for _ in range(2):
        proposes(provider, reply="What a lovely day!")
    await talk.say("Ada")
    assert (talk.captured, talk.asked) == ({}, "name")
    await talk.say("Ada")
    assert (talk.captured, talk.asked) == ({"name": "Ada"}, "email"), "asked twice is asked enough"
    assert "lovely" not in talk.said


HOSTILE = [
    {"values": {"role": "admin"}, "reply": "You are an administrator now."},
    {"values": {"nobody": 1, "__proto__": {}}, "reply": "Stored."},
    {"values": {"email": "evil@example.com"}, "reply": "I noted evil@example.com."},
    {"values": {"name": "Mallory"}},
    {"values": {"team": -5, "topic": "s9", "terms": True}},
    {"values": {"name": {"x": 1}, "email": ["a"], "topic": {}, "team": "many"}},
    {"values": {"paper": "file_" + "a" * 26}},
    {"skip": ["name", "topic", "role", "nobody"], "reply": "Done, thank you!"},
    {"values": {}, "reply": "Pay at https://evil.example/now"},
    {"values": {}, "reply": "![evil](evil.example/x.png)"},
    {"values": {}, "reply": "See [this][1] evil offer."},
    {"values": {}, "reply": "<img src=//evil.example>"},
    {"values": {}, "reply": "x" * 5000},
    {"values": [], "skip": {}, "reply": 7},
    "[" * 5000,
    "I will not answer in JSON.",
    "",
]


@pytest.mark.parametrize("said", HOSTILE, ids=str)
@pytest.mark.either_database
async def test_a_hostile_model_sets_nothing_that_was_not_said(owner, api, provider, said) -> None:
    paper = {"id": "paper", "type": "file", "label": "Paper"}
    form = await make_form(owner, {**TOPIC, "required": False}, TEAM, NAME, EMAIL, TERMS, paper, SECRET)
    talk = await Talk.begin(api, form)
    provider.says(said if isinstance(said, str) else json.dumps(said))
    await talk.say("hm, what can I choose?")
    assert talk.captured == {}
    assert (await talk.look())["collected_data"] == {"role": "guest"}
    for claim in ("administrator", "evil", "Stored", "noted", "thank you", "xxx"):
        assert claim not in talk.said
    assert "Topic?" in talk.said or "Name?" in talk.said
    assert len(provider.requests) == 1


async def test_a_model_that_fails_or_hangs_is_done_without(owner, api, provider, monkeypatch) -> None:
    monkeypatch.setattr(extraction, "MODEL_TIMEOUT_SECONDS", 0.3)
    form = await make_form(owner, NAME, {"id": "age", "type": "number", "required": True}, EMAIL)
    talk = await Talk.begin(api, form)
    provider.fails(hanging())
    await talk.say("Ada")
    assert (talk.captured, talk.asked) == ({"name": "Ada"}, "age")
    provider.fails(refusing(400, b"no"))
    await talk.say("I am thirty... well, 36")
    assert (talk.captured, talk.asked) == ({"age": 36}, "email")
    provider.says('{"values": {"email": "')
    await talk.say("reach me by ada@example.com")
    assert (talk.captured, talk.last["form_completed"]) == ({"email": "ada@example.com"}, True)


async def test_while_a_model_thinks_nobody_else_is_heard(owner, api, provider, people, clock) -> None:
    form = await make_form(owner, NAME, EMAIL)
    talk = await Talk.begin(api, form)
    provider.fails(hanging())
    first = asyncio.create_task(talk.post("Ada, I guess"))
    while not provider.requests:
        await asyncio.sleep(0.01)
    messages = await talk.history()
    assert [one["content"] for one in messages[1:]] == ["Ada, I guess"], "stored before anyone thinks"
    second = await talk.post("Bob")
    assert (second.status, second.code) == (409, "conversation_busy")
    assert "retry-after" in second.headers
    assert (await api.post(talk.path("cancel"))).status == 200
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    assert (await talk.look())["status"] == "cancelled"
    crashed = await Talk.begin(api, form)
    provider.fails(hanging())
    task = asyncio.create_task(crashed.post("Ada, I guess"))
    while len(provider.requests) < 2:
        await asyncio.sleep(0.01)
    clock.advance(41)  # As after a kill -9: nobody gave the turn back.
    proposes(provider, {"name": "Bob"})
    await crashed.say("Bob, that is")
    assert crashed.captured == {"name": "Bob"}
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await crashed.look())["collected_data"] == {"name": "Bob"}
    assert (await crashed.say("a@b.de"))["form_completed"]


@pytest.mark.either_database
async def test_the_form_says_which_model_if_any(owner, api, provider) -> None:
    model = "openai_compatible/test-model"
    agent = await make_agent(
        owner, primary_model=model, system_prompt="You are a parrot.", status="published"
    )
    for chosen, is_asked in (
        ({}, True),
        ({"model": False}, False),
        ({"model": model}, True),
        ({"agent_id": agent["id"]}, True),
        ({"agent_id": "agt_gone"}, False),
        ({"model": "openai_compatible/unheard-of"}, False),
    ):
        form = await make_form(owner, NAME, EMAIL, settings={"conversational": chosen})
        talk = await Talk.begin(api, form)
        before = len(provider.requests)
        proposes(provider, {"name": "Ada"})
        await talk.say("Ada")
        assert talk.captured == {"name": "Ada"}, chosen
        assert (len(provider.requests) > before) is is_asked, chosen
        provider.replies.clear()
        is_parrot = is_asked and "parrot" in provider.last.json["messages"][0]["content"]
        assert is_parrot is ("agent_id" in chosen and is_asked)


CONFIGURATION = {
    "model": "openai_compatible/evil",
    "agent_id": "agt_x",
    "system_prompt": "CANARY",
    "tools": [{"name": "CANARY"}],
    "settings": {"conversational": {"model": "CANARY"}},
    "answers": {"role": "admin"},
    "status": "completed",
    "asked": "role",
    "files": {"filepath": "/etc/passwd"},
}


@pytest.mark.either_database
async def test_visitors_configure_nothing(owner, api, provider) -> None:
    form = await make_form(owner, NAME, SECRET, EMAIL)
    talk = await Talk.begin(api, form, **CONFIGURATION)
    assert (talk.asked, talk.last["collected_data"]) == ("name", {"role": "guest"})
    proposes(provider, {"name": "Ada"})
    await talk.say("Ada it is", **CONFIGURATION)
    assert provider.last.json["model"] == "test-model"
    assert "CANARY" not in provider.last.body.decode()
    assert (await talk.look())["collected_data"] == {"role": "guest", "name": "Ada"}
    for path in (talk.path("messages"), talk.path("messages", "stream")):
        for type in ("text/plain", "multipart/form-data"):
            answer = await api.post(path, content=b'{"content": "x"}', headers={"content-type": type})
            assert answer.status == 415, type


@pytest.mark.either_database
async def test_a_stream_of_a_model_is_the_same_turn(owner, api, provider) -> None:
    talk = await Talk.begin(api, await make_form(owner, NAME, EMAIL))
    proposes(provider, {"name": "Ada", "email": "ada@example.com"})
    found = await talk.stream("Ada, ada@example.com")
    assert [name for name, _, _ in found][:3] == ["message_start", "field_captured", "field_captured"]
    assert found[-1][2]["form_completed"]


@pytest.mark.slow
@pytest.mark.either_database
async def test_the_embedded_model_completes_a_conversation(make_service, monkeypatch) -> None:
    """A very small model: whatever it proposes, what is submitted is what the visitor said."""
    people = People(await make_service(models_dir=fetch_weights()))
    person = await people.signed_in(Role.tenant_admin)
    monkeypatch.setattr(extraction, "MODEL_TIMEOUT_SECONDS", 120)
    monkeypatch.setattr(turns, "TURN_LOCK_SECONDS", 150)
    chosen = {"model": "local/smollm2-135m", "confirm": True}
    settings = {"conversational": chosen, "limits": {"messages": 1000}}
    form = await make_form(person, NAME, {**EMAIL, "required": True}, TOPIC, TEAM, SECRET, settings=settings)
    talk = await Talk.begin(people.api, form)
    await talk.say("Hello, I am Ada")
    wrong = await talk.say("my e-mail is nowhere")
    assert "email" not in {one["field_id"] for one in wrong["captured"]}
    right = {"name": "Ada", "email": "ada@example.com", "topic": "s1", "team": 12, "role": "guest"}
    for text in ("Name: Bob", "E-mail: ada@example.com", "Topic: Sales", "Team size: 12", "Name: Ada"):
        await talk.say(text)
    assert (await talk.look())["collected_data"] == right
    await talk.say("yes")
    assert talk.last["form_completed"]
    assert (await submission(person, form, talk.last["submission_id"]))["data"] == right
    async with people.context(person.user.tenant_id) as ctx:
        used = [one for one in await ctx.db.all(UsageEntry) if one.chat_requests]
    assert used
    assert {one.model for one in used} == {"local/smollm2-135m"}
