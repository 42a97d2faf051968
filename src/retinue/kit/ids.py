"""Identifiers and tokens: a prefix that names the kind, then randomness from the operating system."""

import base64
import hashlib
import secrets

_ALPHABET = "abcdefghijklmnopqrstuvwxyz234567"


def new_id(prefix: str) -> str:
    """A prefix and 26 base32 characters: 130 random bits, opaque to everyone."""
    bits = int.from_bytes(secrets.token_bytes(17), "big") >> 6
    letters = [""] * 26
    for position in range(26):
        letters[position] = _ALPHABET[bits & 31]
        bits >>= 5
    return f"{prefix}_{''.join(letters)}"


def new_token() -> str:
    """256 random bits for a link or a refresh token, safe in URLs."""
    return base64.urlsafe_b64encode(secrets.token_bytes(32)).rstrip(b"=").decode()


def hash_token(token: str) -> str:
    """How a token is stored: it has 256 random bits, so a plain hash is as good as a slow one."""
    return hashlib.sha256(token.encode()).hexdigest()
