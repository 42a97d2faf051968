"""`Idempotency-Key`: a repeated request gets the first one's answer, and nothing happens twice."""

import asyncio
from collections import Counter

import pytest

from retinue.access.models import Role
from retinue.domains import DOMAINS
from retinue.kit.errors import RateLimited
from tests.factories.people import PASSWORD
from tests.kit.idempotency import NOTES, is_replay, list_claims, notes, post
from tests.kit.planted import ANYONE

DAY_S = 24 * 3600


@pytest.fixture
async def service(make_service, planted):
    return await make_service(manifests=(*DOMAINS, planted.manifest), burst=False)


async def test_a_repeated_request_gets_the_same_bytes_and_says_so(me, people):
    first, second = await post(me), await post(me)
    assert (first.status, second.status) == (201, 201)
    assert first.body == second.body
    assert (is_replay(first), is_replay(second)) == (False, True)
    assert second.headers["content-type"] == "application/json"
    assert await notes(people) == 1


async def test_a_replay_has_the_ids_and_the_limits_of_its_own_request(me):
    first, second = await post(me), await post(me)
    assert first.headers["x-request-id"] != second.headers["x-request-id"]
    names = [name for name, _ in second.raw_headers]
    assert len(names) == len(set(names))
    assert int(second.headers["x-ratelimit-remaining"]) == int(first.headers["x-ratelimit-remaining"]) - 2


async def test_what_an_answer_said_in_headers_is_repeated_too(me):
    first = await post(me, "/planted/answers/created", json=None)
    second = await post(me, "/planted/answers/created", json=None)
    assert is_replay(second)
    assert first.headers["location"] == second.headers["location"] == "/planted/here"


async def test_an_answer_without_a_body_is_repeated_too(me, planted):
    note = (await post(me, key="other")).json()["id"]
    headers = {"Idempotency-Key": "key"}
    answers = [await me.patch(f"{NOTES}/{note}", {"name": "b"}, headers=headers) for _ in range(2)]
    assert [(answer.status, answer.body, is_replay(answer)) for answer in answers] == [
        (204, b"", False),
        (204, b"", True),
    ]
    assert planted.runs == 2


async def test_the_same_key_with_another_body_is_refused(me, people):
    await post(me)
    for answer in (
        await post(me, name="b"),
        await post(me, json={}),
        await post(me, json=None, content=b"{"),
    ):
        assert (answer.status, answer.code) == (422, "idempotency_key_reused")
    assert await notes(people) == 1


async def test_the_same_key_with_another_query_is_refused(me):
    assert (await post(me, f"{NOTES}?dry_run=true")).status == 201
    assert (await post(me, f"{NOTES}?dry_run=false")).code == "idempotency_key_reused"
    assert is_replay(await post(me, f"{NOTES}?dry_run=true"))


async def test_without_a_key_every_request_counts(me, people):
    for _ in range(2):
        assert (await me.post(NOTES, {"name": "a"})).status == 201
    assert await notes(people) == 2


async def test_a_key_is_one_persons_in_one_tenant_on_one_path(me, people, admin):
    colleague = await people.signed_in(Role.agent_developer)
    stranger = await people.signed_in(Role.agent_developer, await people.tenant("Other"))
    note = (await post(me)).json()["id"]
    for caller, path in ((colleague, NOTES), (stranger, NOTES), (me, f"{NOTES}/{note}")):
        answer = await post(caller, path)
        assert answer.status in {200, 201}
        assert not is_replay(answer)
    headers = {"Idempotency-Key": "key", "X-Tenant-ID": stranger.user.tenant_id}
    for expected in (False, True):
        answer = await admin.post(NOTES, {"name": "a"}, headers=headers)
        assert (answer.status, is_replay(answer)) == (201, expected)
    assert not is_replay(await post(admin)), "the same administrator, at home"


async def test_callers_without_an_account_have_keys_too(api):
    first = await post(api, f"{ANYONE}/draws")
    second = await post(api, f"{ANYONE}/draws")
    assert (second.status, second.body, is_replay(second)) == (201, first.body, True)
    assert (await post(api, f"{ANYONE}/draws", key="other")).body != first.body


async def test_a_key_is_forgotten_after_a_day_and_lives_another_day_when_it_is_used_again(me, people, clock):
    first = await post(me)
    clock.advance(DAY_S - 10)
    me = await people.sign_in(me.user)
    assert (await post(me)).body == first.body
    clock.advance(20)
    anew = await post(me, name="b")
    assert (anew.status, is_replay(anew)) == (201, False)
    again = await post(me, name="b")
    assert (again.body, is_replay(again)) == (anew.body, True)
    clock.advance(DAY_S - 60)
    assert is_replay(await post(await people.sign_in(me.user), name="b"))
    assert await notes(people) == 2


async def test_the_sweep_removes_what_is_older_than_a_day(service, me, people, clock):
    await service.runner.drain()
    await post(me, key="old")
    clock.advance(DAY_S - 60)
    me = await people.sign_in(me.user)
    await post(me, key="young")
    clock.advance(3700)
    await service.runner.drain()
    assert [row.expires_at > clock.now() for row in await list_claims(people)] == [True]
    assert is_replay(await post(await people.sign_in(me.user), key="young"))


async def test_a_refusal_is_an_answer_and_is_repeated(me, planted, people):
    first, second = await post(me, "/planted/failing/conflict"), await post(me, "/planted/failing/conflict")
    assert (first.status, first.body, is_replay(first)) == (409, second.body, False)
    assert is_replay(second)
    assert planted.runs == 1
    for path, json in (("/planted/notes/file_x", {"name": "a"}), (NOTES, {"name": ""})):
        first, second = [await post(me, path, key="other", json=json) for _ in range(2)]
        assert (first.status, first.body) == (second.status, second.body)
        assert is_replay(second)
    assert await notes(people) == 0


@pytest.mark.parametrize(("kind", "status"), [("oops", 500), ("unavailable", 503)])
async def test_a_fault_of_ours_is_not_kept(me, planted, people, kind, status):
    for number in (1, 2):
        answer = await post(me, f"/planted/failing/{kind}")
        assert (answer.status, is_replay(answer), planted.runs) == (status, False, number)
        assert await list_claims(people) == []


async def test_an_answer_that_cannot_be_encoded_is_not_kept(me, people):
    assert (await post(me, "/planted/failing/encoding", json=None)).status == 500
    assert (await notes(people), await list_claims(people)) == (0, [])


async def test_a_refusal_by_a_limit_is_not_kept(me, people, planted, monkeypatch):
    async def refuse() -> None:
        planted.runs += 1
        raise RateLimited(limit=1, window=60, retry_after=1, reset=0)

    monkeypatch.setattr(planted.gate, "passed", refuse)
    for number in (1, 2):
        answer = await post(me, "/planted/slow")
        assert (answer.status, is_replay(answer), planted.runs) == (429, False, 2 * number)
    assert await list_claims(people) == []


async def test_a_request_the_plan_refuses_leaves_its_key_unused(people, clock):
    me = await people.signed_in(Role.agent_developer, await people.tenant(plan="free"))
    for _ in range(6):
        await me.post("/planted/chat")
    assert (await post(me)).status == 429
    clock.advance(61)
    answer = await post(me)
    assert (answer.status, is_replay(answer)) == (201, False)


async def test_streams_and_files_are_not_kept(me, planted, people):
    for _ in range(2):
        answer = await post(me, "/planted/streams/events", json=None)
        assert (answer.status, is_replay(answer)) == (200, False)
    assert planted.runs == 2
    assert await list_claims(people) == []


async def test_uploads_are_recognized_whatever_boundary_a_retry_chooses(me, planted, people):
    body = b'--%b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n%b\r\n--%b--\r\n'
    answers = []
    for boundary, content in ((b"one", b"hello"), (b"two", b"hello"), (b"one", b"other")):
        headers = {
            "Idempotency-Key": "key",
            "Content-Type": f"multipart/form-data; boundary={boundary.decode()}",
        }
        sent = body % (boundary, content, boundary)
        answers.append(await me.request("POST", "/planted/uploads", content=sent, headers=headers))
    first, second, third = answers
    assert (first.status, second.status) == (201, 201)
    assert (first.body == second.body, is_replay(second)) == (True, True)
    assert third.code == "idempotency_key_reused"
    assert (planted.runs, await notes(people)) == (1, 1)


@pytest.mark.parametrize(
    ("key", "status"), [("", 422), ("k", 201), ("k" * 255, 201), ("k" * 256, 422), ("ü ✓", 201), ("a b", 201)]
)
async def test_a_key_has_1_to_255_characters(me, people, key, status):
    answer = await post(me, key=key.encode().decode("latin-1"))
    assert answer.status == status
    if status == 422:
        assert (answer.code, set(answer.details)) == ("validation_error", {"Idempotency-Key"})
    assert await notes(people) == (status == 201)


async def test_signing_in_and_second_factors_have_no_keys(api, people):
    user = await people.user()
    body = {"email": user.email, "password": PASSWORD}
    first, second = [await post(api, "/auth/login", json=body) for _ in range(2)]
    assert first.json()["access_token"] != second.json()["access_token"]
    me = api.signed_in(first.json()["access_token"])
    setups = [await post(me, "/api/v1/mfa/setup", json={}) for _ in range(2)]
    assert setups[0].json()["secret"] != setups[1].json()["secret"]
    assert (await post(me, "/auth/logout", key="x" * 300)).status == 200
    assert await list_claims(people) == []


async def test_no_route_of_signing_in_or_second_factors_takes_a_key(service):
    prefixes = ("/auth/", "/api/v1/mfa/")
    routes = [route for route in service.app.tree.routes if route.path.startswith(prefixes)]
    assert len(routes) > 10
    assert not [route.path for route in routes if route.idempotent]


async def test_put_and_delete_ignore_a_key(me, people):
    headers = {"Idempotency-Key": "key"}
    for method, path in (("PUT", "/planted/write"), ("DELETE", "/planted/delete"), ("GET", "/planted/read")):
        assert not is_replay(await me.request(method, path, headers=headers))
    assert await list_claims(people) == []


async def test_a_stored_answer_is_sealed_and_its_key_is_only_a_hash(service, me, people):
    await post(me, name="CANARY-note", key="CANARY-key")
    (row,) = await list_claims(people)
    assert row.body is not None
    found = await service.instance.database.fetch("SELECT * FROM idempotency_keys", [])
    stored = repr([tuple(each) for each in found])
    assert "CANARY" not in stored
    assert "CANARY" in row.body.text(service.instance.ring)


async def test_fifty_at_once_are_one_and_everybody_hears_the_same(me, planted, people):
    answers = await asyncio.gather(*(post(me) for _ in range(50)))
    counted = Counter(answer.status for answer in answers)
    assert set(counted) <= {201, 409}
    assert len({answer.body for answer in answers if answer.status == 201}) == 1
    assert {answer.code for answer in answers if answer.status == 409} <= {"idempotency_conflict"}
    assert sum(answer.status == 201 and not is_replay(answer) for answer in answers) == 1
    assert (planted.runs, await notes(people)) == (1, 1)
    assert is_replay(await post(me))
