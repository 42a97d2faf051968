"""Identifiers and tokens: a prefix that names the kind, then randomness from the operating system."""

import base64
import hashlib
import secrets
from os import urandom

# Each random byte becomes one of 32 letters; 256 is a multiple of 32, so all are equally likely.
_LETTERS = bytes(b"abcdefghijklmnopqrstuvwxyz234567"[byte & 31] for byte in range(256))


def new_id(prefix: str) -> str:
    """A prefix and 26 base32 characters: 130 random bits, opaque to everyone."""
    return f"{prefix}_{urandom(26).translate(_LETTERS).decode()}"


def new_token() -> str:
    """256 random bits for a link or a refresh token, safe in URLs."""
    return base64.urlsafe_b64encode(secrets.token_bytes(32)).rstrip(b"=").decode()


def hash_token(token: str) -> str:
    """How a token is stored: it has 256 random bits, so a plain hash is as good as a slow one."""
    return hashlib.sha256(token.encode()).hexdigest()
