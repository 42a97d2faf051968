"""Setting up, enabling and disabling a second factor, and the devices that there are."""

import asyncio
import base64
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from retinue.auth.mfa.devices import MAX_DEVICES
from retinue.auth.models import MfaChallenge, MfaDevice, RecoveryCode
from retinue.users.models import User
from tests.factories.happenings import audits
from tests.factories.second_factors import (
    complete,
    enable,
    mfa_token,
    only_device,
    refusal_of,
    set_up,
    sign_in,
)

OFF = {"enabled": False, "method": "totp", "devices_count": 0, "recovery_codes_remaining": 0}


async def status_of(person) -> dict:
    return (await person.get("/api/v1/mfa/status")).json()


async def shows_mfa(person) -> bool:
    return (await person.get("/auth/me")).json()["mfa_enabled"]


async def test_nobody_has_a_second_factor_at_first(person) -> None:
    assert await status_of(person) == OFF
    assert (await person.get("/api/v1/mfa/devices")).json() == {"devices": []}
    assert not await shows_mfa(person)


async def test_setup_gives_a_secret_as_a_picture_and_as_an_address(person) -> None:
    answer = await person.post("/api/v1/mfa/setup")
    assert answer.status == 200
    assert answer.headers["cache-control"] == "no-store"
    body = answer.json()
    assert set(body) == {"secret", "qr_code_url", "otpauth_url", "recovery_codes"}
    assert len(base64.b32decode(body["secret"])) == 20
    kind, _, picture = body["qr_code_url"].partition(",")
    assert kind == "data:image/png;base64"
    assert base64.b64decode(picture).startswith(b"\x89PNG\r\n")
    address = urlsplit(body["otpauth_url"])
    assert (address.scheme, address.netloc) == ("otpauth", "totp")
    assert unquote(address.path) == f"/Retinue:{person.user.email}"
    assert parse_qs(address.query) == {"secret": [body["secret"]], "issuer": ["Retinue"]}


async def test_setup_gives_ten_different_recovery_codes(person) -> None:
    codes = (await person.post("/api/v1/mfa/setup")).json()["recovery_codes"]
    assert len(set(codes)) == 10
    for code in codes:
        assert len(code) == 10
        assert set(code) <= set("ABCDEFGHJKLMNPQRSTUVWXYZ23456789")


async def test_a_pending_setup_changes_nothing_yet(people, person, clock) -> None:
    factor = await set_up(person, clock)
    assert await status_of(person) == OFF
    assert (await person.get("/api/v1/mfa/devices")).json() == {"devices": []}
    assert (await person.post("/api/v1/mfa/verify", {"code": factor.code()})).json() == {"valid": False}
    await people.sign_in(person.user)


async def test_a_new_setup_before_enable_replaces_the_old_one(api, person, clock) -> None:
    old = await set_up(person, clock)
    new = await set_up(person, clock)
    answer = await person.post("/api/v1/mfa/enable", {"code": old.code()})
    assert (answer.status, answer.code) == (422, "validation_error")
    assert (await person.post("/api/v1/mfa/enable", {"code": new.code()})).status == 200
    assert (await status_of(person))["recovery_codes_remaining"] == 10
    token = await mfa_token(api, person.user)
    assert refusal_of(await complete(api, token, old.recovery_codes[0])) == (401, "invalid_code")
    assert (await complete(api, token, new.recovery_codes[0])).status == 200


async def test_enable_takes_a_code_of_the_new_device_and_switches_the_sign_in_over(
    api, people, person, clock
) -> None:
    factor = await set_up(person, clock)
    answer = await person.post("/api/v1/mfa/enable", {"code": factor.code()})
    assert answer.status == 200
    assert answer.json() == {"message": answer.json()["message"], "recovery_codes_count": 10}
    assert answer.json()["message"]
    assert await status_of(person) == {
        "enabled": True,
        "method": "totp",
        "devices_count": 1,
        "recovery_codes_remaining": 10,
    }
    assert await shows_mfa(person)
    login = await api.post("/auth/login", {"email": person.user.email, "password": "Battery-Staple-2"})
    assert set(login.json()) == {"mfa_required", "mfa_token", "message"}
    assert [entry.metadata["user_id"] for entry in await audits(people, "auth.mfa_enabled")] == [
        person.user.id
    ]
    (added,) = await audits(people, "auth.mfa_device_added")
    assert added.actor == {"type": "user", "id": person.user.id}
    assert added.metadata["name"] == "Authenticator"


async def test_enable_without_setup_is_a_conflict(person, clock) -> None:
    answer = await person.post("/api/v1/mfa/enable", {"code": "123456"})
    assert (answer.status, answer.code) == (409, "mfa_not_setup")
    factor = await enable(person, clock)
    answer = await person.post("/api/v1/mfa/enable", {"code": factor.code(30)})
    assert (answer.status, answer.code) == (409, "mfa_not_setup")


async def test_a_device_is_enabled_once(people, person, clock) -> None:
    factor = await set_up(person, clock)
    shown = [factor.code(seconds) for seconds in (-30, 0, 30)]
    answers = await asyncio.gather(*(person.post("/api/v1/mfa/enable", {"code": code}) for code in shown))
    statuses = sorted(answer.status for answer in answers)
    assert statuses[0] == 200
    assert set(statuses[1:]) <= {409, 422}
    assert len(await audits(people, "auth.mfa_device_added")) == 1


async def test_setting_up_and_enabling_at_once_leaves_one_of_both(person, clock) -> None:
    for _ in range(3):
        clock.advance(31)
        factor = await set_up(person, clock)
        enabling, *settings_up = await asyncio.gather(
            person.post("/api/v1/mfa/enable", {"code": factor.code()}),
            *(person.post("/api/v1/mfa/setup") for _ in range(3)),
        )
        assert enabling.status in {200, 409, 422}
        assert {answer.status for answer in settings_up} <= {200, 403}
        status = await status_of(person)
        assert status["enabled"] == await shows_mfa(person)
        assert status["recovery_codes_remaining"] == (10 if status["devices_count"] else 0)


async def test_a_wrong_code_does_not_enable(people, person, clock) -> None:
    factor = await set_up(person, clock)
    for code in (factor.wrong_code(), factor.recovery_codes[0], "", "nonsense"):
        answer = await person.post("/api/v1/mfa/enable", {"code": code})
        assert (answer.status, answer.code) == (422, "validation_error")
        assert set(answer.details) == {"code"}
    assert await status_of(person) == OFF
    assert [entry.success for entry in await audits(people, "auth.mfa_code_refused")] == [False] * 4


@pytest.mark.parametrize("with_recovery_code", [False, True])
async def test_disable_takes_either_kind_of_code(people, person, clock, with_recovery_code) -> None:
    factor = await enable(person, clock)
    code = factor.recovery_codes[3] if with_recovery_code else factor.code()
    answer = await person.post("/api/v1/mfa/disable", {"code": code})
    assert answer.status == 200
    assert set(answer.json()) == {"message"}
    assert await status_of(person) == OFF
    assert not await shows_mfa(person)
    await people.sign_in(person.user)
    assert len(await audits(people, "auth.mfa_disabled")) == 1


async def test_disable_with_a_wrong_code_or_without_mfa_is_refused(person, clock) -> None:
    answer = await person.post("/api/v1/mfa/disable", {"code": "123456"})
    assert (answer.status, answer.code) == (409, "mfa_not_enabled")
    pending = await set_up(person, clock)
    answer = await person.post("/api/v1/mfa/disable", {"code": pending.code()})
    assert (answer.status, answer.code) == (409, "mfa_not_enabled")
    factor = await enable(person, clock)
    answer = await person.post("/api/v1/mfa/disable", {"code": factor.wrong_code()})
    assert (answer.status, answer.code) == (422, "validation_error")
    assert set(answer.details) == {"code"}
    assert (await status_of(person))["enabled"] is True


async def test_after_disabling_everything_starts_anew(api, person, clock) -> None:
    old = await enable(person, clock)
    await person.post("/api/v1/mfa/disable", {"code": old.code()})
    clock.advance(30)
    new = await enable(person, clock)
    assert new.secret != old.secret
    clock.advance(30)
    token = await mfa_token(api, person.user)
    for dead in (old.code(), old.recovery_codes[0]):
        assert refusal_of(await complete(api, token, dead)) == (401, "invalid_code")
    assert (await complete(api, token, new.code())).status == 200


async def test_devices_are_shown_without_their_secret(person, clock) -> None:
    factor = await enable(person, clock, name="Phone")
    device = await only_device(person)
    assert set(device) == {"id", "name", "type", "created_at", "last_used_at"}
    assert (device["name"], device["type"]) == ("Phone", "totp")
    for path in ("/api/v1/mfa/devices", "/api/v1/mfa/status", "/auth/me"):
        answer = await person.get(path)
        assert factor.secret.encode() not in answer.body
        assert not any(code.encode() in answer.body for code in factor.recovery_codes)


async def test_a_second_device_works_beside_the_first_once_it_is_enabled(api, person, clock) -> None:
    phone = await enable(person, clock, name="Phone")
    tablet = await set_up(person, clock, name="Tablet")
    assert (await status_of(person))["devices_count"] == 1
    clock.advance(30)
    await sign_in(api, person.user, phone.code())
    token = await mfa_token(api, person.user)
    assert refusal_of(await complete(api, token, tablet.code())) == (401, "invalid_code")
    assert (await person.post("/api/v1/mfa/enable", {"code": tablet.code()})).status == 200
    names = [device["name"] for device in (await person.get("/api/v1/mfa/devices")).json()["devices"]]
    assert names == ["Phone", "Tablet"]
    clock.advance(30)
    await sign_in(api, person.user, phone.code())
    await sign_in(api, person.user, tablet.code())


async def test_the_old_recovery_codes_work_until_a_further_device_is_enabled(
    api, people, person, clock
) -> None:
    phone = await enable(person, clock)
    tablet = await set_up(person, clock)
    token = await mfa_token(api, person.user)
    assert refusal_of(await complete(api, token, tablet.recovery_codes[0])) == (401, "invalid_code")
    assert (await complete(api, token, phone.recovery_codes[0])).status == 200
    assert (await status_of(person))["recovery_codes_remaining"] == 9


async def test_enabling_a_further_device_replaces_the_recovery_codes(api, people, person, clock) -> None:
    phone = await enable(person, clock)
    tablet = await set_up(person, clock)
    await complete(api, await mfa_token(api, person.user), phone.recovery_codes[0])
    answer = await person.post("/api/v1/mfa/enable", {"code": tablet.code()})
    assert answer.json()["recovery_codes_count"] == 10
    assert (await status_of(person))["recovery_codes_remaining"] == 10
    token = await mfa_token(api, person.user)
    assert refusal_of(await complete(api, token, phone.recovery_codes[1])) == (401, "invalid_code")
    assert (await complete(api, token, tablet.recovery_codes[1])).status == 200
    assert len(await audits(people, "auth.mfa_enabled")) == 1
    assert len(await audits(people, "auth.mfa_device_added")) == 2
    assert len(await audits(people, "auth.recovery_codes_renewed")) == 1


async def test_there_may_be_only_so_many_devices(person, clock) -> None:
    for _ in range(MAX_DEVICES):
        await enable(person, clock)
    answer = await person.post("/api/v1/mfa/setup", {})
    assert (answer.status, answer.code) == (409, "too_many_devices")


async def test_removing_a_device_leaves_the_others(api, people, person, clock) -> None:
    phone = await enable(person, clock, name="Phone")
    tablet = await enable(person, clock, name="Tablet")
    first = (await person.get("/api/v1/mfa/devices")).json()["devices"][0]
    answer = await person.delete(f"/api/v1/mfa/devices/{first['id']}")
    assert answer.status == 200
    assert set(answer.json()) == {"message"}
    assert (await only_device(person))["name"] == "Tablet"
    assert (await status_of(person))["recovery_codes_remaining"] == 10
    token = await mfa_token(api, person.user)
    assert refusal_of(await complete(api, token, phone.code())) == (401, "invalid_code")
    assert (await complete(api, token, tablet.code())).status == 200
    (removed,) = await audits(people, "auth.mfa_device_removed")
    assert removed.metadata == {"user_id": person.user.id, "device_id": first["id"], "name": "Phone"}
    assert await audits(people, "auth.mfa_disabled") == []


async def test_removing_the_last_device_disables_mfa(people, person, clock) -> None:
    await enable(person, clock)
    device = await only_device(person)
    assert (await person.delete(f"/api/v1/mfa/devices/{device['id']}")).status == 200
    assert await status_of(person) == OFF
    assert not await shows_mfa(person)
    assert len(await audits(people, "auth.mfa_disabled")) == 1
    await people.sign_in(person.user)
    again = await person.delete(f"/api/v1/mfa/devices/{device['id']}")
    assert (again.status, again.code) == (404, "device_not_found")


async def test_nobody_else_reaches_a_device(people, person, clock) -> None:
    await enable(person, clock)
    device = await only_device(person)
    colleague = await people.signed_in("tenant_admin")
    stranger = await people.signed_in("tenant_admin", await people.tenant())
    for other in (colleague, stranger):
        answer = await other.delete(f"/api/v1/mfa/devices/{device['id']}")
        assert (answer.status, answer.code) == (404, "device_not_found")
        assert (await other.get("/api/v1/mfa/devices")).json() == {"devices": []}
    assert (await only_device(person))["id"] == device["id"]


async def test_a_device_that_waits_for_its_first_code_cannot_be_removed(people, person, clock) -> None:
    await set_up(person, clock)
    async with people.context(person.user.tenant_id) as ctx:
        pending = await ctx.db.find(MfaDevice, user_id=person.user.id)
    answer = await person.delete(f"/api/v1/mfa/devices/{pending.id}")
    assert (answer.status, answer.code) == (404, "device_not_found")


async def test_a_device_name_is_text_of_some_length(person) -> None:
    for name in ("", "n" * 101, 7):
        answer = await person.post("/api/v1/mfa/setup", {"name": name})
        assert (answer.status, answer.code) == (422, "validation_error")
        assert set(answer.details) == {"name"}


async def test_the_last_use_of_a_device_is_shown(api, person, clock) -> None:
    factor = await enable(person, clock)
    before = (await only_device(person))["last_used_at"]
    clock.advance(60)
    await sign_in(api, person.user, factor.code())
    assert (await only_device(person))["last_used_at"] > before


async def test_a_deleted_user_takes_everything_along(people, person, clock) -> None:
    await enable(person, clock)
    await mfa_token(people.api, person.user)
    async with people.context(person.user.tenant_id) as ctx:
        await ctx.db.delete(await ctx.db.get(User, person.user.id))
    async with people.context(person.user.tenant_id) as ctx:
        for record in (MfaDevice, RecoveryCode, MfaChallenge):
            assert await ctx.db.count(record) == 0
