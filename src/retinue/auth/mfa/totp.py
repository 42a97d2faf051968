"""Time-based one-time passwords with the parameters all authenticators support: SHA-1, 6 digits, 30 s."""

import hmac
import re

import pyotp
import segno

STEP_SECONDS = 30

_FORM = re.compile(r"[0-9]{6}")
_ISSUER = "Retinue"
_STEPS_AROUND = (-1, 0, 1)


def new_secret() -> str:
    return pyotp.random_base32()


def is_well_formed(code: str) -> bool:
    """Return whether the code is six ASCII digits."""
    return _FORM.fullmatch(code) is not None


def matching_step(secret: str, code: str, at: float) -> int | None:
    """Return the time step of this code if it is the current one or adjacent to it."""
    current = int(at // STEP_SECONDS)
    generator = pyotp.TOTP(secret, interval=STEP_SECONDS)
    expected = {current + offset: generator.generate_otp(current + offset) for offset in _STEPS_AROUND}
    matching = [step for step, otp in expected.items() if hmac.compare_digest(otp, code)]
    return max(matching, default=None)


def otpauth_url(secret: str, account: str) -> str:
    return pyotp.TOTP(secret, interval=STEP_SECONDS).provisioning_uri(name=account, issuer_name=_ISSUER)


def qr_code_url(url: str) -> str:
    """Return a PNG of the QR code as a data URL. It takes about 40 ms, so call it in a thread."""
    image: str = segno.make_qr(url, error="m").png_data_uri(scale=5)
    return image
