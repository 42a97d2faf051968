"""Time-based one-time passwords as every authenticator knows them: SHA-1, six digits, thirty seconds."""

import hmac
import re

import pyotp
import segno

STEP_S = 30

_FORM = re.compile(r"[0-9]{6}")
_ISSUER = "Retinue"
_STEPS_AROUND = (-1, 0, 1)


def new_secret() -> str:
    return pyotp.random_base32()


def has_form(code: str) -> bool:
    """Six plain digits; spaces and the digits of other scripts are not a code."""
    return _FORM.fullmatch(code) is not None


def matching_step(secret: str, code: str, at: float) -> int | None:
    """The thirty seconds this code belongs to, if they are the present ones or next to them."""
    present = int(at // STEP_S)
    generator = pyotp.TOTP(secret, interval=STEP_S)
    expected = {present + offset: generator.generate_otp(present + offset) for offset in _STEPS_AROUND}
    matching = [step for step, otp in expected.items() if hmac.compare_digest(otp, code)]
    return max(matching, default=None)


def otpauth_url(secret: str, account: str) -> str:
    return pyotp.TOTP(secret, interval=STEP_S).provisioning_uri(name=account, issuer_name=_ISSUER)


def qr_code_url(url: str) -> str:
    """A PNG of it as a data URL; takes some 40 ms, so ask for it in a thread."""
    image: str = segno.make_qr(url, error="m").png_data_uri(scale=5)
    return image
