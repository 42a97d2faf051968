import pytest

from retinue.kit.clock import ManualClock
from tests.client import Api
from tests.factories.people import People
from tests.factories.second_factors import SecondFactor, enable


@pytest.fixture
async def person(people: People) -> Api:
    """Someone, signed in."""
    return await people.signed_in()


@pytest.fixture
async def factor(person: Api, clock: ManualClock) -> SecondFactor:
    """The second factor of `person`."""
    return await enable(person, clock)
