"""Outcomes of sign-ins: each is counted, and a failed one is a warning in the log."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

import structlog

from retinue.kit.context import Context
from retinue.kit.errors import RetinueError
from retinue.kit.metrics import declarations as metrics

log = structlog.get_logger("retinue.auth")


class LoginAttempt:
    outcome = "success"


@contextmanager
def observed_login(ctx: Context, method: Literal["password", "mfa", "setup"]) -> Iterator[LoginAttempt]:
    """Count the sign-in within; a failed one is logged with its address, and without what was typed."""
    attempt = LoginAttempt()
    try:
        yield attempt
    except RetinueError as error:
        attempt.outcome = str((error.details or {}).get("reason", error.code))
        log.warning("sign_in_failed", method=method, reason=attempt.outcome, address=ctx.caller.ip_address)
        raise
    except BaseException:
        attempt.outcome = "error"
        raise
    finally:
        metrics.LOGINS.count(method, attempt.outcome)
