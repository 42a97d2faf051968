"""The jobs that auth enqueues: their names, payloads and retries. `jobs.py` implements them."""

import msgspec

from retinue.auth.models import PasswordPurpose
from retinue.kit.jobs.declare import JobKind


class VerificationRequest(msgspec.Struct):
    email: str


class FailedLogin(msgspec.Struct):
    email: str
    purpose: PasswordPurpose
    ip_address: str
    user_agent: str


class PasswordResetRequest(msgspec.Struct):
    email: str


SEND_VERIFICATION = JobKind("auth.send_verification", VerificationRequest)
RECORD_FAILED_LOGIN = JobKind("auth.record_failed_login", FailedLogin)
SEND_PASSWORD_RESET = JobKind("auth.send_password_reset", PasswordResetRequest)
