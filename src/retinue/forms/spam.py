"""What keeps programs from filling in a form: a trap, a least time, and a proof of work."""

import base64
import hashlib
import hmac
from typing import Any

from retinue.forms.errors import SubmissionInvalid
from retinue.forms.opening import OpenForm
from retinue.kit.context import Context
from retinue.kit.fields import FieldError

_KEY_FOR = "form-tokens"
_GOOD_FOR_S = 24 * 3600
_LONGEST_PROOF = 64


def token_of(ctx: Context, form: OpenForm) -> str | None:
    """When the form was fetched, signed; only where a submission is asked for it."""
    spam = form.rules.spam
    if not spam.min_seconds and not spam.proof_of_work:
        return None
    at, version = int(ctx.clock.time() * 1000), ctx.instance.ring.active
    return f"{version}.{at}.{_signature(ctx, form.id, at, version)}"


def _signature(ctx: Context, form_id: str, at: int, version: int) -> str:
    key = ctx.instance.ring.derive(_KEY_FOR, version)
    digest = hmac.new(key, f"{form_id}\n{at}\n{version}".encode(), hashlib.sha256).digest()
    return base64.urlsafe_b64encode(digest[:18]).decode()


def is_trapped(form: OpenForm, data: Any) -> bool:
    """Whether a field was filled in that people do not see."""
    trap = form.rules.spam.honeypot
    return (
        trap is not None and trap not in form.fields.by_id and isinstance(data, dict) and bool(data.get(trap))
    )


def require_patience(ctx: Context, form: OpenForm, token: Any, proof: Any) -> None:
    spam = form.rules.spam
    if not spam.min_seconds and not spam.proof_of_work:
        return
    fetched_at = _fetched_at(ctx, form, token)
    if fetched_at is None or ctx.clock.time() - fetched_at > _GOOD_FOR_S:
        raise SubmissionInvalid([FieldError("token", "is missing or too old; fetch the form again")])
    if ctx.clock.time() - fetched_at < spam.min_seconds:
        raise SubmissionInvalid([FieldError("token", "the form was filled in too fast")])
    if spam.proof_of_work and not _is_proof(str(token), proof, spam.proof_of_work):
        raise SubmissionInvalid([FieldError("proof", f"must prove {spam.proof_of_work} bits of work")])


def _fetched_at(ctx: Context, form: OpenForm, token: Any) -> float | None:
    parts = token.split(".") if isinstance(token, str) and len(token) < 100 and token.isascii() else []
    if len(parts) != 3 or not (parts[0].isdigit() and parts[1].isdigit()):
        return None
    version, at = int(parts[0]), int(parts[1])
    try:
        expected = _signature(ctx, form.id, at, version)
    except KeyError:
        return None  # the version of the key is retired, or none of ours
    return at / 1000 if hmac.compare_digest(expected, parts[2]) else None


def _is_proof(token: str, proof: Any, bits: int) -> bool:
    """`sha256(token:proof)` begins with so many zero bits."""
    if not isinstance(proof, str) or len(proof) > _LONGEST_PROOF:
        return False
    digest = hashlib.sha256(f"{token}:{proof}".encode("utf-8", "replace")).digest()
    return int.from_bytes(digest) >> (256 - bits) == 0
