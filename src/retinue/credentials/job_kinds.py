"""The jobs that credentials enqueues: their names, payloads and retries. `jobs.py` implements them."""

import msgspec

from retinue.kit.jobs.declare import JobKind, Retry


class TokenToRenew(msgspec.Struct):
    credential_id: str


RENEW_TOKEN = JobKind("credentials.renew_token", TokenToRenew, retry=Retry((0,)))
