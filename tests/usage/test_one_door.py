"""A spent budget stops every kind of call, of members and visitors, and every call that is made is booked."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from retinue.app import Service
from retinue.kit import failpoints
from retinue.kit.clock import ManualClock
from tests.adapters.llm_server import ProviderServer
from tests.adapters.recordings import plain_wav, tone
from tests.client import Api, Response
from tests.conftest import ServiceMaker
from tests.embed.keys import Holder, make_key
from tests.factories.agents import make_agent
from tests.factories.knowledge import School
from tests.factories.people import People
from tests.factories.providers import add_key
from tests.usage.spending import BUDGETS, add_budget, chat, spent, takes, usage

Json = dict[str, Any]
SESSION = "a-session-of-a-visitor"
SOUND = plain_wav(tone(0.1))
MODELS = ["gpt-4o", "gpt-4o-mini", "text-embedding-3-small", "own-embedding", "whisper-1", "tts-1"]
HANDBOOK = ("handbook.txt", b"The office closes at six. Parcels are handed out in the basement.")


@pytest.fixture
async def service(make_service: ServiceMaker, request: pytest.FixtureRequest) -> Service:
    """Its embedding model is the test's parameter, if it has one."""
    return await make_service(
        default_model="openai/gpt-4o",
        embedding_model=getattr(request, "param", "openai/text-embedding-3-small"),
        stt_model="openai/whisper-1",
        tts_model="openai/tts-1",
    )


@pytest.fixture
async def key(admin: Api, provider: ProviderServer) -> Json:
    return await add_key(admin, provider="openai", base_url=f"{provider.url}/v1", models=MODELS)


@pytest.fixture
def school(service: Service, provider: ProviderServer) -> School:
    return School(service, provider)


@pytest.fixture
async def holder(admin: Api, api: Api, agent: Json) -> Holder:
    return Holder(api, agent, await make_key(admin, agent))


async def stream(admin: Api, agent: Json) -> Response:
    return await admin.post(f"/api/v1/agents/{agent['id']}/chat/stream", {"message": "Hello"})


async def speak(admin: Api, agent: Json) -> Response:
    files = {"audio": ("voice.wav", SOUND, "audio/wav")}
    return await admin.post(f"/api/v1/agents/{agent['id']}/chat/audio", files=files)


async def read_out(admin: Api, agent: Json, text: str = "Hello.") -> Response:
    return await admin.post(f"/api/v1/agents/{agent['id']}/chat/tts", {"text": text})


async def send_recording(admin: Api, agent: Json) -> Response:
    uploaded = await admin.post("/api/v1/files", files={"file": ("voice.wav", SOUND, "audio/wav")})
    file_id = uploaded.json()["data"]["file_id"]
    return await chat(admin, agent, attachments=[{"file_id": file_id}])


async def generate(admin: Api, _agent: Json) -> Response:
    return await admin.post("/api/v1/forms/generate", {"prompt": "A form for complaints"})


MEMBERS_CALLS: list[Callable[[Api, Json], Awaitable[Response]]] = [
    chat,
    stream,
    speak,
    read_out,
    send_recording,
    generate,
]


async def say(holder: Holder) -> Response:
    return await holder.say(session_id=SESSION)


async def hear(holder: Holder) -> Response:
    return await holder.say(session_id=SESSION, stream=True)


async def complete(holder: Holder) -> Response:
    body = {"model": holder.agent["id"], "messages": [{"role": "user", "content": "Hello"}]}
    return await holder.api.post("/v1/chat/completions", body, headers=holder.headers)


async def send_sound(holder: Holder) -> Response:
    sent = await holder.api.post(
        f"/api/v1/public/agents/{holder.agent['id']}/files",
        files={"file": ("voice.wav", SOUND, "audio/wav")},
        fields={"session_id": SESSION},
        headers=holder.headers,
    )
    assert sent.status == 201, sent
    return await holder.say(session_id=SESSION, attachments=[{"file_id": sent.json()["file_id"]}])


VISITORS_CALLS: list[Callable[[Holder], Awaitable[Response]]] = [say, hear, complete, send_sound]


async def spend(admin: Api, provider: ProviderServer, agent: Json, **budget: Any) -> Json:
    """Give the tenant a budget, and use it up with one chat."""
    made = await add_budget(admin, {"type": "tenant"}, **(budget or {"limit_usd": 0.001}))
    takes(provider, 400, 100)
    assert (await chat(admin, agent)).status == 200
    return made


@pytest.mark.parametrize("limit", [{"limit_usd": 0.001}, {"limit_tokens": 500}], ids=["dollars", "tokens"])
async def test_a_spent_budget_stops_every_call_of_members(
    admin: Api, provider: ProviderServer, agent: Json, limit: Json
) -> None:
    budget = await spend(admin, provider, agent, **limit)
    asked = len(provider.requests)
    for call in MEMBERS_CALLS:
        refused = await call(admin, agent)
        assert (call.__name__, refused.status, refused.code) == (call.__name__, 429, "budget_exceeded")
        assert (refused.details["budget_id"], refused.details["scope"]["type"]) == (budget["id"], "tenant")
        assert refused.details["limit"] == limit.get("limit_usd", limit.get("limit_tokens"))
    assert len(provider.requests) == asked


@pytest.mark.parametrize("call", [speak, send_recording])
async def test_the_hold_of_a_turn_pays_for_its_transcription(
    admin: Api, provider: ProviderServer, agent: Json, call: Callable[[Api, Json], Awaitable[Response]]
) -> None:
    """The transcription leaves too little of the budget for the reply, so the model is not asked."""
    budget = await add_budget(admin, {"type": "tenant"}, limit_usd=0.0009)
    takes(provider, 100, 10)
    refused = await call(admin, agent)
    assert (refused.status, refused.details["reason"]) == (429, "unaffordable")
    assert [request.path for request in provider.requests] == ["/v1/audio/transcriptions"]
    assert 0 < (await spent(admin))[budget["id"]] <= 0.0009


async def test_a_spent_budget_stops_every_call_of_visitors_in_neutral_words(
    admin: Api, provider: ProviderServer, agent: Json, holder: Holder
) -> None:
    await spend(admin, provider, agent)
    asked = len(provider.requests)
    for call in VISITORS_CALLS:
        refused = await call(holder)
        assert refused.status == 429, (call.__name__, refused)
        error = refused.json()["error"]
        assert (error["code"], error["message"]) == (
            "budget_exceeded",
            "This assistant cannot answer right now. Please try again later.",
        )
        assert b"bdg_" not in refused.body
        assert b"0.001" not in refused.body
        assert refused.headers["retry-after"]
    assert len(provider.requests) == asked


async def test_a_budget_that_is_over_when_it_is_set_stops_visitors_alike(
    admin: Api, provider: ProviderServer, agent: Json, holder: Holder
) -> None:
    takes(provider, 400, 100)
    assert (await chat(admin, agent)).status == 200
    await add_budget(admin, {"type": "agent", "id": agent["id"]}, limit_usd=0.001)
    refused = await holder.say()
    assert (refused.status, refused.code) == (429, "budget_exceeded")


@pytest.mark.one_service("a process keeps what Home shows for ten seconds")
async def test_the_owner_sees_that_a_budget_refuses_visitors_though_it_is_not_spent(
    admin: Api, provider: ProviderServer, agent: Json, holder: Holder
) -> None:
    """The smallest prompt costs more than this budget has, so it is never used up and refuses everybody."""
    budget = await add_budget(admin, {"type": "agent", "id": agent["id"]}, limit_tokens=1)
    assert (budget["refused_today"], budget["refused_because"]) == (0, None)
    for _ in range(2):
        assert (await holder.say()).status == 429
    (shown,) = (await admin.get("/api/v1/budgets")).json()["data"]
    assert (shown["refused_today"], shown["refused_because"], shown["spent"]) == (2, "unaffordable", 0)
    needs = (await admin.get("/api/v1/home")).json()["needs"]
    (need,) = [one for one in needs if one["object"]["id"] == budget["id"]]
    assert (need["title_code"], need["severity"]) == ("budget_refuses", "bad")
    assert (need["params"]["refused_count"], need["params"]["refused_because"]) == (2, "unaffordable")


async def test_a_refusal_that_cannot_be_counted_is_told_all_the_same(admin: Api, agent: Json) -> None:
    await add_budget(admin, {"type": "agent", "id": agent["id"]}, limit_tokens=1)
    failpoints.arm("before_commit:1:error")
    try:
        refused = await chat(admin, agent)
    finally:
        failpoints.arm("")
    assert (refused.status, refused.code) == (429, "budget_exceeded")


async def test_the_budget_of_an_embed_key_stops_the_recordings_of_its_visitors_only(
    admin: Api, api: Api, provider: ProviderServer, agent: Json, holder: Holder
) -> None:
    await add_budget(admin, {"type": "embed_key", "id": holder.key["id"]}, limit_usd=0.001)
    takes(provider, 400, 100)
    assert (await say(holder)).status == 200
    asked = len(provider.requests)
    assert (await send_sound(holder)).status == 429
    assert len(provider.requests) == asked
    other = Holder(api, agent, await make_key(admin, agent))
    assert (await send_sound(other)).status == 200


async def test_a_refused_search_goes_on_by_words_and_says_so(
    admin: Api, provider: ProviderServer, agent: Json, school: School
) -> None:
    await school.teach(admin, agent, HANDBOOK)
    await spend(admin, provider, agent)
    asked = len(provider.requests)
    place = f"/api/v1/agents/{agent['id']}/knowledge/search"
    answer = await admin.post(place, {"query": "When does the office close?", "explain": True})
    assert (answer.status, answer.headers["x-retinue-warnings"]) == (200, "searched_by_words")
    assert answer.json()["data"][0]["document_name"] == "handbook.txt"
    assert answer.json()["data"][0]["explanation"]["similarity"] is None
    assert len(provider.requests) == asked


async def test_a_document_waits_for_its_budget_and_says_why(
    admin: Api, provider: ProviderServer, agent: Json, school: School
) -> None:
    budget = await spend(admin, provider, agent)
    asked = len(provider.requests)
    (document,) = await school.teach(admin, agent, HANDBOOK)
    assert (document["status"], document["error"]["code"]) == ("pending", "budget_exceeded")
    assert "tenant's budget" in document["error"]["message"]
    assert len(provider.requests) == asked
    assert (await admin.put(f"{BUDGETS}/{budget['id']}", {"limit_usd": 1})).status == 200
    await school.work()
    document = await school.document(admin, agent, document["id"])
    assert (document["status"], document["error"], document["chunk_count"]) == ("indexed", None, 1)


@pytest.mark.parametrize("service", ["openai/own-embedding"], indirect=True)
async def test_a_document_waits_for_the_price_of_its_model(
    admin: Api, provider: ProviderServer, agent: Json, school: School
) -> None:
    await add_budget(admin, {"type": "tenant"}, limit_usd=5)
    (document,) = await school.teach(admin, agent, HANDBOOK)
    assert (document["status"], document["error"]["code"]) == ("pending", "model_unpriced")
    priced = {"model": "openai/own-embedding", "input_price_per_mtok": 1, "output_price_per_mtok": 0}
    assert (await admin.put("/api/v1/model-prices", priced)).status == 200
    await school.work()
    assert (await school.document(admin, agent, document["id"]))["status"] == "indexed"


async def test_small_calls_do_not_hold_the_budget_of_a_whole_turn(
    admin: Api, provider: ProviderServer, agent: Json, service: Service
) -> None:
    budget = await add_budget(admin, {"type": "tenant"}, limit_usd=5)
    slot = await service.instance.limiter.hold(f"budget:{budget['id']}", 1, 60)
    assert slot is not None
    assert (await read_out(admin, agent)).status == 200, "it costs next to nothing"


async def test_a_waiting_document_goes_on_with_the_next_period(
    admin: Api, people: People, provider: ProviderServer, agent: Json, school: School, clock: ManualClock
) -> None:
    await spend(admin, provider, agent, limit_usd=0.001, period="day")
    (document,) = await school.teach(admin, agent, HANDBOOK)
    assert document["status"] == "pending"
    clock.advance(24 * 3600)
    await school.work()
    admin = await people.super_admin()
    assert (await school.document(admin, agent, document["id"]))["status"] == "indexed"


async def test_every_call_is_booked_once_with_its_exact_cost(
    admin: Api, provider: ProviderServer, agent: Json, school: School
) -> None:
    """Tokens of embeddings; characters of speech and seconds of transcriptions in money only."""
    budget = await add_budget(admin, {"type": "agent", "id": agent["id"]}, limit_usd=5)
    await school.teach(admin, agent, HANDBOOK)
    await school.ask(admin, agent, "When does the office close?")
    takes(provider, 1000, 10)
    answered = (await chat(admin, agent)).json()
    assert {one["model"]: one["prompt_tokens"] for one in answered["usage_by_model"]} == {
        "openai/text-embedding-3-small": 1,
        "openai/gpt-4o": 1000,
    }
    assert answered["estimated_cost_usd"] == 0.00260002
    assert (await read_out(admin, agent, "x" * 200)).status == 200
    takes(provider, 100, 1)
    assert (await speak(admin, agent)).status == 200
    rows = (await usage(admin, group_by="model"))["data"]
    booked = {row["group"]["model"]: row for row in rows if row["group"]["model"]}
    assert {model: round(row["estimated_cost_usd"], 9) for model, row in booked.items()} == {
        # The document, the search, and a search in each of the two turns: a token each.
        "openai/text-embedding-3-small": 0.00000008,
        "openai/gpt-4o": 0.00286,
        "openai/tts-1": 0.003,
        "openai/whisper-1": 0.00085,
    }
    tokens = {model: (row["prompt_tokens"], row["chat_requests"]) for model, row in booked.items()}
    assert tokens == {
        "openai/text-embedding-3-small": (4, 0),
        "openai/gpt-4o": (1100, 2),
        "openai/tts-1": (0, 0),
        "openai/whisper-1": (0, 0),
    }
    assert (await spent(admin))[budget["id"]] == pytest.approx(0.00671008, abs=1e-12)


async def test_a_generated_form_is_booked(admin: Api, provider: ProviderServer, key: Json) -> None:
    form = '{"name": "Complaint", "fields": [{"id": "what", "type": "text", "label": "What happened?"}]}'
    takes(provider, 300, 40, text=form)
    assert (await admin.post("/api/v1/forms/generate", {"prompt": "Complaints"})).status == 201
    (row,) = (await usage(admin, group_by="model,channel"))["data"][-1:]
    assert row["group"] == {"model": "openai/gpt-4o", "channel": "form"}
    assert (row["prompt_tokens"], row["estimated_cost_usd"]) == (300, 0.00115)


async def test_a_key_that_has_spent_its_month_pays_for_no_sound(
    admin: Api, provider: ProviderServer, service: Service
) -> None:
    key = await add_key(
        admin, provider="openai", base_url=f"{provider.url}/v1", models=MODELS, monthly_budget_usd=0.004
    )
    agent = await make_agent(admin, primary_model="openai/gpt-4o", status="published")
    assert (await read_out(admin, agent, "x" * 200)).status == 200
    asked = len(provider.requests)
    refused = await read_out(admin, agent, "x" * 200)
    assert (refused.status, refused.code) == (429, "budget_exceeded")
    assert refused.details["scope"] == {"type": "provider_key", "id": key["id"]}
    assert (await read_out(admin, agent, "x" * 20)).status == 200
    assert len(provider.requests) == asked + 1


async def test_speech_without_a_price_is_refused_as_its_budget_says(
    admin: Api, provider: ProviderServer, agent: Json
) -> None:
    budget = await add_budget(admin, {"type": "tenant"}, limit_usd=5)
    price = {"model": "openai/tts-1", "input_price_per_mtok": 1, "output_price_per_mtok": 2}
    assert (await admin.put("/api/v1/model-prices", price)).status == 200
    refused = await read_out(admin, agent)
    assert (refused.status, refused.code, refused.details["model"]) == (422, "model_unpriced", "openai/tts-1")
    assert provider.requests == []
    own = {"model": "openai/tts-1", "speech_price_per_mchar": 1000}
    shown = (await admin.put("/api/v1/model-prices", own)).json()
    assert (shown["speech_price_per_mchar"], shown["input_price_per_mtok"]) == (1000.0, 0.0)
    assert (await read_out(admin, agent, "x" * 10)).status == 200
    assert (await spent(admin))[budget["id"]] == 0.01
