"""`retinue doctor --probe`: asks the running server whether it is ready."""

import asyncio

import msgspec

from retinue.cli.doctor.findings import Finding, fail, ok
from retinue.kit.egress import Egress
from retinue.kit.errors import RetinueError
from retinue.kit.settings import LOOPBACK, Settings

DEFAULT_URL = "http://127.0.0.1:8080/health/ready"
TIMEOUT_SECONDS = 5.0
_HINT = "Check the log of the server; --url names another address than the default one."


async def probe(settings: Settings, url: str) -> Finding:
    """Answer within five seconds; a server that is starting, stopping or sealed is not ready."""
    address = url or DEFAULT_URL
    async with Egress.from_settings(settings, [*LOOPBACK]) as egress:
        try:
            async with asyncio.timeout(TIMEOUT_SECONDS):
                async with egress.request("GET", address, timeout_s=TIMEOUT_SECONDS) as response:
                    status, body = response.status, await response.read()
        except (RetinueError, TimeoutError, OSError) as error:
            return fail("server", f"{address} does not answer: {error or type(error).__name__}", _HINT)
    try:
        detail = ", ".join(f"{name} {value}" for name, value in msgspec.json.decode(body).items())
    except (msgspec.MsgspecError, AttributeError):
        detail = "the answer is not Retinue's"
        return fail("server", f"{address}: {detail}", _HINT)
    return ok("server", detail) if status == 200 else fail("server", f"{address}: {status}, {detail}", _HINT)
