"""Errors of chat completions and models as OpenAI's clients read them, and how often those ask again."""

import asyncio
from typing import Any

import pytest

from tests.adapters.llm_server import refusing
from tests.embed.completion_requests import COMPLETIONS, HELLO, body

pytestmark = pytest.mark.either_database

CLIENT_ATTEMPTS = 3
"""OpenAI's client repeats a request twice."""
SPENT = "insufficient_quota"
QUOTA = {"error": {"message": "You exceeded your quota.", "type": SPENT, "code": SPENT}}


def error_of(answer) -> dict[str, Any]:
    return answer.json()["error"]


def may_be_repeated(answer) -> bool:
    """Return whether OpenAI's client would repeat the request."""
    told = answer.headers.get("x-should-retry")
    return told == "true" if told else answer.status in {408, 409, 429} or answer.status >= 500


async def ask_as_client(admin, **more: Any) -> Any:
    for _ in range(CLIENT_ATTEMPTS):
        answer = await admin.post(COMPLETIONS, body(**more))
        if not may_be_repeated(answer):
            break
    return answer


async def test_the_first_reason_is_in_the_message_and_its_path_in_param(admin, agent):
    answer = await admin.post(COMPLETIONS, body(messages=[{"role": "king", "content": 1}], temperature="hot"))
    error = error_of(answer)
    assert (answer.status, error["code"], error["type"]) == (422, "validation_error", "invalid_request_error")
    assert set(error) == {"code", "message", "details", "type", "param"}
    assert error["param"] == next(iter(error["details"])) == "messages.0.role"
    assert error["message"].startswith("messages.0.role: must be one of system, developer")
    assert error["message"].endswith("2 more in `details`.")
    single = error_of(await admin.post(COMPLETIONS, body(messages=[{"role": "assistant", "content": "Hi"}])))
    assert single["message"] == "messages: must end with a message of the user."


@pytest.mark.parametrize("path", [COMPLETIONS, "/v1/models"])
async def test_each_refusal_has_openais_type(admin, api, agent, path):
    method = "GET" if path.endswith("models") else "POST"
    sent = {} if method == "GET" else {"json": body()}
    error = error_of(await api.request(method, path, **sent))
    assert (error["code"], error["type"], error["param"]) == ("unauthorized", "authentication_error", None)
    assert error["details"] == {"reason": "missing_token"}


async def test_an_unknown_agent_is_a_fault_of_the_model_parameter(admin, agent):
    answer = await admin.post(COMPLETIONS, {"model": "Nobody", "messages": HELLO})
    error = error_of(answer)
    assert (answer.status, error["type"], error["param"]) == (404, "invalid_request_error", "model")
    assert answer.headers["x-should-retry"] == "false"


async def test_other_paths_of_the_prefix_keep_the_envelope(admin):
    error = error_of(await admin.post("/v1/tools", {}))
    assert set(error) == {"code", "message", "details"}


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (429, QUOTA),
        (402, {"error": {"message": "Pay first."}}),
        (401, {"error": {"message": "Wrong key.", "code": "invalid_api_key"}}),
        (403, {"error": {"message": "Not this model."}}),
        (404, {"error": {"message": "No such model.", "code": "model_not_found"}}),
        (400, {"error": {"message": "Too long.", "code": "context_length_exceeded"}}),
        (400, {"error": {"message": "Not that.", "code": "content_policy_violation"}}),
        (500, {"error": {"message": "No such model.", "code": "model_not_found"}}),
        (503, [{"error": {"message": "Pay first.", "code": "insufficient_quota"}}]),
    ],
)
async def test_what_will_not_change_is_asked_once(admin, agent, provider, status, said):
    for _ in range(CLIENT_ATTEMPTS * 3):
        provider.fails(refusing(status, said))
    answer = await ask_as_client(admin)
    assert (answer.status, error_of(answer)["type"]) == (502, "server_error")
    assert answer.headers["x-should-retry"] == "false"
    assert len(provider.requests) == 1


async def test_what_passes_is_still_repeated_and_answered(admin, agent, provider):
    provider.fails(refusing(503))
    answer = await ask_as_client(admin)
    assert answer.status == 200
    assert len(provider.requests) == 2
    for _ in range(3):
        provider.fails(refusing(503))
    answer = await admin.post(COMPLETIONS, body())
    assert (answer.status, "x-should-retry" in answer.headers) == (502, False)
    assert may_be_repeated(answer)


async def test_a_spent_budget_is_not_asked_for_again(admin, agent, provider):
    budget = {"scope": {"type": "agent", "id": agent["id"]}, "limit_tokens": 1, "period": "month"}
    made = await admin.post("/api/v1/budgets", {**budget, "action": "block"})
    assert made.status == 201, made
    await admin.post(COMPLETIONS, body())
    answer = await ask_as_client(admin)
    error = error_of(answer)
    assert (answer.status, error["code"], error["type"]) == (429, "budget_exceeded", "insufficient_quota")
    assert answer.headers["x-should-retry"] == "false"


async def test_a_budget_that_others_hold_just_now_is_asked_again(admin, agent, provider, service):
    budget = {"scope": {"type": "agent", "id": agent["id"]}, "limit_tokens": 1000}
    made = (await admin.post("/api/v1/budgets", {**budget, "action": "block"})).json()
    slot = await service.instance.limiter.hold(f"budget:{made['id']}", 1, 60)
    assert slot is not None
    answer = await admin.post(COMPLETIONS, body())
    assert (answer.status, error_of(answer)["type"]) == (429, "rate_limit_error")
    assert "in use by other requests" in error_of(answer)["message"]
    assert may_be_repeated(answer)


async def test_a_repeated_refusal_has_the_same_form(admin, agent):
    headers = {"Idempotency-Key": "same"}
    first, second = [await admin.post(COMPLETIONS, body(messages=[]), headers=headers) for _ in range(2)]
    assert second.headers["idempotent-replayed"] == "true"
    assert first.json() == second.json()


async def test_ignored_parameters_are_named_in_a_header_only(admin, agent, provider):
    answer = await admin.post(COMPLETIONS, body(top_p=0.5, messages=[{**HELLO[0], "name": "ada"}]))
    assert set(answer.json()) == {"id", "object", "created", "model", "choices", "usage"}
    told = "ignored_field:top_p, ignored_field:messages.0.name"
    assert answer.headers["x-retinue-warnings"] == told


async def test_a_client_that_asks_many_times_at_once_does_not_multiply_them(admin, agent, provider):
    for _ in range(20):
        provider.fails(refusing(429, QUOTA))
    await asyncio.gather(*(ask_as_client(admin) for _ in range(4)))
    assert len(provider.requests) == 4
