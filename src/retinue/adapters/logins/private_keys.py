"""Loading of pasted private keys; keys whose decryption would take years are rejected first."""

import base64
import re
import struct

import asyncssh
from asyncssh.asn1 import ASN1DecodeError, der_decode

from retinue.adapters.logins.errors import LoginNotConfigured
from retinue.kit.secrets import Secret

# An RSA key of 8192 bits has 6,400 characters.
_MAX_KEY_LENGTH = 8_000
# ssh-keygen uses 16 rounds (newer ones 24), openssl 2,048 iterations; these limits take about a second.
_MAX_BCRYPT_ROUNDS = 128
_MAX_KDF_ITERATIONS = 1_000_000

_OPENSSH = b"openssh-key-v1\0"
_PEM = re.compile(
    r"-----BEGIN (?P<label>(?:[A-Z0-9]+ ){0,3}PRIVATE KEY)-----\s+"
    r"(?P<headers>(?:[A-Za-z-]+: ?[!-~]+\s+)*)"
    r"(?P<body>[A-Za-z0-9+/=\s]+)"
    r"-----END (?P=label)-----",
    re.ASCII,
)


def load_private_key(text: Secret, passphrase: Secret) -> asyncssh.SSHKey:
    """Load a key, decrypting it if necessary; takes up to a second of CPU time."""
    pem = text.reveal().strip()
    if len(pem) > _MAX_KEY_LENGTH:
        raise LoginNotConfigured("The private key is too large.")
    match = _PEM.fullmatch(pem)
    try:
        content = base64.b64decode("".join(match["body"].split()), validate=True) if match else b""
        if _is_too_costly(content):
            raise LoginNotConfigured(
                "The private key takes too long to decrypt. Use fewer key derivation rounds."
            )
        return asyncssh.import_private_key(pem if match else "", passphrase.reveal() or None)
    except (ValueError, RecursionError):
        raise LoginNotConfigured("The private key or its passphrase is invalid.") from None


def _is_too_costly(content: bytes) -> bool:
    if content.startswith(_OPENSSH):
        return _bcrypt_rounds(content[len(_OPENSSH) :]) > _MAX_BCRYPT_ROUNDS
    try:
        decoded = der_decode(content)
    except ASN1DecodeError:
        return False
    is_encrypted = isinstance(decoded, tuple) and len(decoded) == 2 and isinstance(decoded[0], tuple)
    return is_encrypted and _largest_number(decoded) > _MAX_KDF_ITERATIONS


def _bcrypt_rounds(data: bytes) -> int:
    """Return the last number of the third field; the first two name the cipher and the method."""
    fields: list[bytes] = []
    for _ in range(3):
        if len(data) < 4:
            return 0
        (length,) = struct.unpack_from("!I", data)
        fields.append(data[4 : 4 + length])
        data = data[4 + length :]
    return int.from_bytes(fields[2][-4:], "big")


def _largest_number(decoded: object) -> int:
    if isinstance(decoded, tuple):
        return max((_largest_number(part) for part in decoded), default=0)
    return decoded if isinstance(decoded, int) else 0
