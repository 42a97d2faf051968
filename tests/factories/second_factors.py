"""An authenticator app and what it takes to have one enabled, through the real routes."""

from typing import Any

import pyotp

from retinue.kit.clock import ManualClock
from retinue.users.models import User
from tests.client import Api, Response
from tests.factories.people import PASSWORD


class SecondFactor:
    """The result of `POST /mfa/setup`: an app that shows codes, and ten recovery codes."""

    def __init__(self, setup: dict[str, Any], clock: ManualClock) -> None:
        self.setup = setup
        self.secret: str = setup["secret"]
        self.recovery_codes: list[str] = setup["recovery_codes"]
        self._clock = clock
        self._app = pyotp.TOTP(self.secret)

    def code(self, seconds: float = 0) -> str:
        """Return the app's code if its clock is this many seconds ahead of the server's."""
        return self._app.at(int(self._clock.time() + seconds))

    def wrong_code(self) -> str:
        shown = {self.code(seconds) for seconds in (-30, 0, 30)}
        return next(code for code in map("{:06}".format, range(10)) if code not in shown)


async def set_up(person: Api, clock: ManualClock, **body: Any) -> SecondFactor:
    answer = await person.post("/api/v1/mfa/setup", body)
    assert answer.status == 200, answer
    return SecondFactor(answer.json(), clock)


async def enable(person: Api, clock: ManualClock, **body: Any) -> SecondFactor:
    """Set up and enabled; the code of this moment is used up for enabling, and for nothing else."""
    factor = await set_up(person, clock, **body)
    answer = await person.post("/api/v1/mfa/enable", {"code": factor.code()})
    assert answer.status == 200, answer
    return factor


async def mfa_token(api: Api, user: User) -> str:
    """Do the first half of a sign-in; return its token."""
    answer = await api.post("/auth/login", {"email": user.email, "password": PASSWORD})
    assert answer.status == 200, answer
    assert answer.json()["mfa_required"] is True
    return answer.json()["mfa_token"]


async def complete(api: Api, token: str, code: Any) -> Response:
    """Do the second half of a sign-in."""
    return await api.post("/auth/mfa/verify", {"mfa_token": token, "code": code})


async def sign_in(api: Api, user: User, code: str) -> Api:
    answer = await complete(api, await mfa_token(api, user), code)
    assert answer.status == 200, answer
    return api.signed_in(answer.json()["access_token"])


async def only_device(person: Api) -> dict[str, Any]:
    answer = await person.get("/api/v1/mfa/devices")
    assert answer.status == 200, answer
    (device,) = answer.json()["devices"]
    return device


def refusal_of(answer: Response) -> tuple[int, str]:
    """Return the status and the reason of a 401 or 403."""
    return answer.status, answer.details["reason"]
