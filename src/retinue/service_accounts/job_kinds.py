"""The jobs that service accounts enqueue: their names, payloads and retries. `jobs.py` implements them."""

import msgspec

from retinue.kit.jobs.declare import JobKind


class RefusedToken(msgspec.Struct):
    """A refused request for a token; `client_id` is whatever the caller sent."""

    client_id: str
    error: str
    reason: str
    ip_address: str
    user_agent: str


class CountedRefusals(msgspec.Struct):
    """Refused requests for tokens of an account that no longer exists, and the last of their callers."""

    account_id: str
    name: str
    error: str
    reason: str
    count: int
    since: str
    ip_address: str
    user_agent: str


RECORD_REFUSED_TOKEN = JobKind("service_accounts.record_refused_token", RefusedToken)
RECORD_LAST_REFUSALS = JobKind("service_accounts.record_last_refusals", CountedRefusals)
