"""Without the master key no code can be checked, and nobody is let in for that."""

from collections.abc import AsyncIterator

import pytest

from retinue.app import Service
from retinue.kit.vault import KEY_FILE
from tests.client import Api
from tests.factories.people import People
from tests.factories.second_factors import complete, enable, mfa_token, set_up
from tests.services import start_all

pytestmark = pytest.mark.either_database


@pytest.fixture
async def persons(people, clock):
    """One with a second factor, one who was about to have one, one without."""
    guarded, waiting, plain = [await people.signed_in() for _ in range(3)]
    return guarded, await enable(guarded, clock), waiting, await set_up(waiting, clock), plain


@pytest.fixture
async def sealed_service(service, persons, clock) -> AsyncIterator[Service]:
    """The same instance, started again after its key was lost."""
    await start_all(service)
    (service.settings.data_dir / KEY_FILE).unlink()
    started = Service(service.settings, clock)
    await started.start()
    yield started
    await started.stop()


def assert_sealed(answer) -> None:
    assert (answer.status, answer.code) == (503, "vault_sealed")


async def test_a_sign_in_that_needs_a_code_has_to_wait(sealed_service, persons) -> None:
    guarded, factor, *_ = persons
    api = Api(sealed_service)
    token = await mfa_token(api, guarded.user)
    for code in (factor.code(), factor.recovery_codes[0], "nonsense"):
        assert_sealed(await complete(api, token, code))


async def test_second_factors_cannot_be_set_up_or_enabled(sealed_service, persons) -> None:
    *_, waiting, pending, plain = persons
    session = await People(sealed_service).sign_in(plain.user)
    assert_sealed(await session.post("/api/v1/mfa/setup"))
    session = await People(sealed_service).sign_in(waiting.user)
    assert_sealed(await session.post("/api/v1/mfa/enable", {"code": pending.code()}))
    assert_sealed(await session.post("/api/v1/mfa/setup"))
    assert_sealed(await session.post("/api/v1/mfa/verify", {"code": pending.code()}))
    assert (await session.get("/api/v1/mfa/status")).json()["enabled"] is False


async def test_what_could_not_be_checked_is_not_counted(sealed_service, persons, service) -> None:
    guarded, factor, *_ = persons
    api = Api(sealed_service)
    for _ in range(3):
        token = await mfa_token(api, guarded.user)
        for _ in range(5):
            assert_sealed(await complete(api, token, factor.wrong_code()))
    answer = await guarded.post("/api/v1/mfa/verify", {"code": factor.code()})
    assert answer.json() == {"valid": True}
