"""Protection against automated submissions: a honeypot, a minimum time and a proof of work."""

import base64
import hashlib
import hmac

from retinue.forms.errors import SubmissionInvalid
from retinue.forms.open_form import OpenForm
from retinue.kit.context import Context
from retinue.kit.schema.fields import FieldError

_KEY_PURPOSE = "form-tokens"
_TOKEN_TTL_SECONDS = 24 * 3600
_MAX_PROOF_LENGTH = 64


def issue_token(ctx: Context, form: OpenForm) -> str | None:
    """Return a signed token with the time of fetching, or None if no rule needs one."""
    spam = form.rules.spam
    if not spam.min_seconds and not spam.proof_of_work:
        return None
    at, version = int(ctx.clock.time() * 1000), ctx.instance.ring.active
    return f"{version}.{at}.{_signature(ctx, form.id, at, version)}"


def _signature(ctx: Context, form_id: str, at: int, version: int) -> str:
    key = ctx.instance.ring.derive(_KEY_PURPOSE, version)
    digest = hmac.new(key, f"{form_id}\n{at}\n{version}".encode(), hashlib.sha256).digest()
    return base64.urlsafe_b64encode(digest[:18]).decode()


def is_honeypot_filled(form: OpenForm, data: object) -> bool:
    """Return whether the invisible honeypot field was filled in."""
    honeypot_field = form.rules.spam.honeypot
    return (
        honeypot_field is not None
        and honeypot_field not in form.fields.by_id
        and isinstance(data, dict)
        and bool(data.get(honeypot_field))
    )


def require_token_and_proof(ctx: Context, form: OpenForm, token: object, proof: object) -> None:
    spam = form.rules.spam
    if not spam.min_seconds and not spam.proof_of_work:
        return
    fetched_at = _fetched_at(ctx, form, token)
    if fetched_at is None or ctx.clock.time() - fetched_at > _TOKEN_TTL_SECONDS:
        raise SubmissionInvalid([FieldError("token", "is missing or too old; fetch the form again")])
    if ctx.clock.time() - fetched_at < spam.min_seconds:
        raise SubmissionInvalid([FieldError("token", "the form was filled in too fast")])
    if spam.proof_of_work and not _is_valid_proof(str(token), proof, spam.proof_of_work):
        raise SubmissionInvalid([FieldError("proof", f"must prove {spam.proof_of_work} bits of work")])


def _fetched_at(ctx: Context, form: OpenForm, token: object) -> float | None:
    parts = token.split(".") if isinstance(token, str) and len(token) < 100 and token.isascii() else []
    if len(parts) != 3 or not (parts[0].isdigit() and parts[1].isdigit()):
        return None
    version, at = int(parts[0]), int(parts[1])
    try:
        expected = _signature(ctx, form.id, at, version)
    except KeyError:
        return None  # this key version is retired or unknown
    return at / 1000 if hmac.compare_digest(expected, parts[2]) else None


def _is_valid_proof(token: str, proof: object, bits: int) -> bool:
    """Return whether `sha256(token:proof)` begins with this many zero bits."""
    if not isinstance(proof, str) or len(proof) > _MAX_PROOF_LENGTH:
        return False
    digest = hashlib.sha256(f"{token}:{proof}".encode("utf-8", "replace")).digest()
    return int.from_bytes(digest) >> (256 - bits) == 0
