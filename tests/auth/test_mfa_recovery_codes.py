"""Recovery codes: good once, dead when renewed, and never stored as they are."""

import asyncio
import base64
import os
from pathlib import Path

import pytest
import sqlalchemy as sa

from retinue.auth.models import RecoveryCode
from retinue.kit.db.models import metadata
from retinue.kit.db.statements import Statement
from tests.factories.happenings import audits, events, only_event
from tests.factories.second_factors import complete, enable, mfa_token, refusal_of, set_up, sign_in

RENEW = "/api/v1/mfa/recovery-codes"


async def count_remaining(person) -> int:
    return (await person.get("/api/v1/mfa/status")).json()["recovery_codes_remaining"]


async def test_a_code_is_good_once(api, person, factor) -> None:
    code = factor.recovery_codes[0]
    await sign_in(api, person.user, code)
    assert await count_remaining(person) == 9
    assert refusal_of(await complete(api, await mfa_token(api, person.user), code)) == (401, "invalid_code")
    assert (await person.post("/api/v1/mfa/disable", {"code": code})).status == 422


async def test_all_ten_are_good(api, person, factor) -> None:
    for code in factor.recovery_codes:
        await sign_in(api, person.user, code)
    assert await count_remaining(person) == 0
    await sign_in(api, person.user, factor.code())


async def test_upper_and_lower_case_are_the_same_code(api, person, factor) -> None:
    code = factor.recovery_codes[0]
    await sign_in(api, person.user, code.lower())
    token = await mfa_token(api, person.user)
    for spent in (code, code.lower(), code.title()):
        assert refusal_of(await complete(api, token, spent)) == (401, "invalid_code")
    assert (await complete(api, token, factor.recovery_codes[1].swapcase())).status == 200


@pytest.mark.parametrize(
    "write",
    [
        str.lower,
        lambda code: f"{code[:5]}-{code[5:]}".lower(),
        lambda code: f" {code[:5]} {code[5:]} ",
        lambda code: f"{code[:5]}\N{EN DASH}{code[5:]}",
    ],
    ids=["lower case", "in groups", "with spaces", "with a dash"],
)
async def test_a_recovery_code_is_taken_as_people_write_it(api, person, factor, write) -> None:
    await sign_in(api, person.user, write(factor.recovery_codes[0]))
    assert (await person.get("/api/v1/mfa/status")).json()["recovery_codes_remaining"] == 9


async def test_a_code_in_another_dress_is_wrong(api, person, factor) -> None:
    code = factor.recovery_codes[0]
    token = await mfa_token(api, person.user)
    for dressed in (f"{code[:5]}.{code[5:]}", f"{code[:5]}_{code[5:]}", code + "A", code[:9]):
        assert refusal_of(await complete(api, token, dressed)) == (401, "invalid_code")
    assert (await complete(api, token, code)).status == 200


async def test_letters_that_only_become_ours_in_upper_case_are_wrong(api, person, clock) -> None:
    factor = await enable(person, clock)
    with_s = next((code for code in factor.recovery_codes if "S" in code), None)
    while with_s is None:
        factor.recovery_codes = (await person.post(RENEW)).json()["recovery_codes"]
        with_s = next((code for code in factor.recovery_codes if "S" in code), None)
    token = await mfa_token(api, person.user)
    answer = await complete(api, token, with_s.replace("S", "\u017f"))
    assert refusal_of(answer) == (401, "invalid_code")


async def test_of_many_with_one_code_one_succeeds(api, person, factor) -> None:
    tokens = [await mfa_token(api, person.user) for _ in range(10)]
    code = factor.recovery_codes[0]
    answers = await asyncio.gather(*(complete(api, token, code) for token in tokens))
    assert sorted(answer.status for answer in answers) == [200] + [401] * 9
    assert await count_remaining(person) == 9


async def test_a_new_set_kills_the_old_one(api, people, person, factor) -> None:
    answer = await person.post(RENEW)
    assert answer.status == 200
    assert set(answer.json()) == {"recovery_codes", "message"}
    fresh = answer.json()["recovery_codes"]
    assert len(fresh) == 10
    assert not set(fresh) & set(factor.recovery_codes)
    assert await count_remaining(person) == 10
    token = await mfa_token(api, person.user)
    assert refusal_of(await complete(api, token, factor.recovery_codes[0])) == (401, "invalid_code")
    assert (await complete(api, token, fresh[0])).status == 200
    assert len(await audits(people, "auth.recovery_codes_renewed")) == 1


async def test_only_who_has_mfa_gets_a_new_set(person, clock) -> None:
    for _ in range(2):
        answer = await person.post(RENEW)
        assert (answer.status, answer.code) == (409, "mfa_not_enabled")
        await set_up(person, clock)


async def test_codes_belong_to_one_user(api, people, person, factor, clock) -> None:
    other = await people.signed_in()
    others = await enable(other, clock)
    token = await mfa_token(api, person.user)
    assert refusal_of(await complete(api, token, others.recovery_codes[0])) == (401, "invalid_code")
    assert await count_remaining(other) == 10


async def test_a_stored_code_is_good_for_its_user_only(api, people, person, factor, clock) -> None:
    other = await people.signed_in()
    others = await enable(other, clock)
    async with people.context(person.user.tenant_id) as ctx:
        for stored in await ctx.db.all(RecoveryCode, user_id=other.user.id):
            await ctx.db.update(stored, user_id=person.user.id)
    assert await count_remaining(person) == 20
    token = await mfa_token(api, person.user)
    assert refusal_of(await complete(api, token, others.recovery_codes[0])) == (401, "invalid_code")
    assert (await complete(api, token, factor.recovery_codes[0])).status == 200


async def test_a_set_that_waits_for_its_device_survives_a_renewal(api, person, factor, clock) -> None:
    tablet = await set_up(person, clock)
    fresh = (await person.post(RENEW)).json()["recovery_codes"]
    assert await count_remaining(person) == 10
    assert (await person.post("/api/v1/mfa/enable", {"code": tablet.code()})).status == 200
    assert await count_remaining(person) == 10
    token = await mfa_token(api, person.user)
    assert refusal_of(await complete(api, token, fresh[0])) == (401, "invalid_code")
    assert (await complete(api, token, tablet.recovery_codes[0])).status == 200


async def test_when_few_are_left_it_is_told(api, people, person, factor) -> None:
    for code in factor.recovery_codes[:7]:
        await sign_in(api, person.user, code)
    assert await events(people, "system.auth.recovery_codes_low") == []
    await sign_in(api, person.user, factor.recovery_codes[7])
    assert await only_event(people, "system.auth.recovery_codes_low") == {
        "user_id": person.user.id,
        "remaining": 2,
    }


async def test_disabling_with_a_code_tells_nobody_to_get_new_ones(api, people, person, factor) -> None:
    for code in factor.recovery_codes[:7]:
        await sign_in(api, person.user, code)
    assert (await person.post("/api/v1/mfa/disable", {"code": factor.recovery_codes[7]})).status == 200
    assert await events(people, "system.auth.recovery_codes_low") == []
    assert (await audits(people, "auth.recovery_code_used"))[-1].metadata["purpose"] == "disable"


async def read_everything_stored(people, folder: Path) -> bytes:
    """Every value of every table, and the bytes of the database's files where there are any."""
    async with people.context() as ctx:
        rows = [
            await ctx.system("test").rows(Statement(sa.select(table)))
            for table in metadata.sorted_tables
            if not table.name.startswith("test_")
        ]
    values = [value for table in rows for row in table for value in row]
    plain = [value if isinstance(value, bytes) else str(value).encode() for value in values]
    files = [] if os.environ.get("RETINUE_TEST_DATABASE_URL") else list(folder.glob("retinue.db*"))
    return b"\n".join([*plain, *(file.read_bytes() for file in files)])


async def test_a_dump_of_the_database_holds_no_code_and_no_secret(
    api, people, person, clock, tmp_path
) -> None:
    factor = await enable(person, clock)
    waiting = await set_up(person, clock)
    fresh = (await person.post(RENEW)).json()["recovery_codes"]
    await sign_in(api, person.user, fresh[0])
    await complete(api, await mfa_token(api, person.user), factor.recovery_codes[0])
    dump = await read_everything_stored(people, tmp_path)
    assert person.user.email.encode() in dump
    for secret in (factor.secret, waiting.secret):
        assert secret.encode() not in dump
        assert base64.b32decode(secret) not in dump
    for code in [*factor.recovery_codes, *waiting.recovery_codes, *fresh]:
        assert code.encode() not in dump
        assert code.lower().encode() not in dump
