"""Private keys people paste; one whose encryption would take years to undo is found out before it begins."""

import base64
import re
import struct
from typing import Any

import asyncssh
from asyncssh.asn1 import ASN1DecodeError, der_decode

from retinue.adapters.logins.errors import LoginNotConfigured
from retinue.kit.secrets import Secret

# An RSA key of 8192 bits has 6,400 characters.
_LONGEST = 8_000
# What ssh-keygen and openssl use are 16 (24 in newer ones) and 2,048; these take about a second.
_MOST_BCRYPT_ROUNDS = 128
_MOST_ITERATIONS = 1_000_000

_OPENSSH = b"openssh-key-v1\0"
_PEM = re.compile(
    r"-----BEGIN (?P<label>(?:[A-Z0-9]+ ){0,3}PRIVATE KEY)-----\s+"
    r"(?P<headers>(?:[A-Za-z-]+: ?[!-~]+\s+)*)"
    r"(?P<body>[A-Za-z0-9+/=\s]+)"
    r"-----END (?P=label)-----",
    re.ASCII,
)


def load(text: Secret, passphrase: Secret) -> asyncssh.SSHKey:
    """Read a key, decrypting it if it is encrypted; takes up to a second of processor time."""
    pem = text.reveal().strip()
    if len(pem) > _LONGEST:
        raise LoginNotConfigured("The private key is too large.")
    found = _PEM.fullmatch(pem)
    try:
        content = base64.b64decode("".join(found["body"].split()), validate=True) if found else b""
        if _is_too_costly(content):
            raise LoginNotConfigured("The private key's encryption would take too long to undo.")
        return asyncssh.import_private_key(pem if found else "", passphrase.reveal() or None)
    except (ValueError, RecursionError):
        raise LoginNotConfigured("The private key or its passphrase is not valid.") from None


def _is_too_costly(content: bytes) -> bool:
    if content.startswith(_OPENSSH):
        return _bcrypt_rounds(content[len(_OPENSSH) :]) > _MOST_BCRYPT_ROUNDS
    try:
        decoded = der_decode(content)
    except ASN1DecodeError:
        return False
    is_encrypted = isinstance(decoded, tuple) and len(decoded) == 2 and isinstance(decoded[0], tuple)
    return is_encrypted and _largest_number(decoded) > _MOST_ITERATIONS


def _bcrypt_rounds(data: bytes) -> int:
    """The last number of the third field; the fields before are the cipher's and the method's name."""
    fields: list[bytes] = []
    for _ in range(3):
        if len(data) < 4:
            return 0
        (length,) = struct.unpack_from("!I", data)
        fields.append(data[4 : 4 + length])
        data = data[4 + length :]
    return int.from_bytes(fields[2][-4:], "big")


def _largest_number(decoded: Any) -> int:
    if isinstance(decoded, tuple):
        return max((_largest_number(part) for part in decoded), default=0)
    return decoded if isinstance(decoded, int) else 0
