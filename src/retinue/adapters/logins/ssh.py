"""Logging in over SSH: key exchange, host key and authentication, with nothing of this machine's own SSH."""

import asyncio
import logging
import socket
from contextlib import suppress

import asyncssh

from retinue.adapters.logins.errors import (
    HostKeyMismatch,
    LoginFailed,
    LoginNotConfigured,
    LoginRefused,
    LoginUnreachable,
)
from retinue.adapters.logins.private_keys import load
from retinue.adapters.logins.reaching import pin, reach
from retinue.kit.egress import Egress
from retinue.kit.errors import RetinueError
from retinue.kit.secrets import Secret

logging.getLogger("asyncssh").setLevel(logging.WARNING)

_GOODBYE_S = 1.0
# The exchange is computed on the event loop, so groups a server may choose freely are left out.
_EXCHANGES = (
    *("mlkem768x25519-sha256", "curve25519-sha256", "curve25519-sha256@libssh.org"),
    *("ecdh-sha2-nistp256", "ecdh-sha2-nistp384", "ecdh-sha2-nistp521"),
    *("diffie-hellman-group14-sha256", "diffie-hellman-group16-sha512"),
)
_HOST_KEYS = (
    ("ssh-ed25519",),
    ("ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521"),
    ("rsa-sha2-512", "rsa-sha2-256"),
)


class _Client(asyncssh.SSHClient):
    """Trusts the expected host key, or any when none is expected."""

    def __init__(self, expected: str) -> None:
        self._expected = expected
        self.seen = ""

    def validate_host_public_key(self, host: str, addr: str, port: int, key: asyncssh.SSHKey) -> bool:  # noqa: ARG002 - asyncssh's signature
        self.seen = key.get_fingerprint()
        return not self._expected or self.seen == self._expected


async def log_in(
    egress: Egress,
    host: str,
    port: int,
    username: str,
    *,
    private_key: Secret,
    passphrase: Secret,
    password: Secret,
    host_key_fingerprint: str,
) -> str:
    """Log in and out again; gives the fingerprint of the host's key."""
    if not username or not (private_key or password):
        raise LoginNotConfigured("The login needs a username, and a private key or a password.")
    key = await asyncio.to_thread(load, private_key, passphrase) if private_key else None
    expected = _normal(host_key_fingerprint)
    # A host has keys of several kinds, and only one of them is the expected one.
    kinds = _HOST_KEYS if expected else (tuple(name for names in _HOST_KEYS for name in names),)
    pinned = await pin(egress, host, port)
    seen = ""
    for algorithms in kinds:
        client = _Client(expected)
        try:
            options = _options(client, username, key, password, algorithms)
        except ValueError:
            raise LoginNotConfigured("The username has characters that no SSH login may have.") from None
        try:
            await _authenticate(await reach(pinned), options)
        except (asyncssh.HostKeyNotVerifiable, asyncssh.KeyExchangeFailed):
            seen = client.seen or seen
        except RetinueError:
            raise
        except Exception as error:  # noqa: BLE001 - a hostile server can make a library raise anything
            raise _translated(error) from None
        else:
            return client.seen
    raise HostKeyMismatch if seen else LoginUnreachable("The server offers no key exchange that is accepted.")


def _options(
    client: _Client, username: str, key: asyncssh.SSHKey | None, password: Secret, algorithms: tuple[str, ...]
) -> asyncssh.SSHClientConnectionOptions:
    # Everything is said here: asyncssh would take what is left out from the server's own agent and home.
    return asyncssh.SSHClientConnectionOptions(
        config=None,
        client_factory=lambda: client,
        known_hosts=([], [], []),
        x509_trusted_certs=None,
        server_host_key_algs=algorithms,
        username=username,
        client_username=username,
        client_keys=[key] if key else None,
        password=password.reveal() or None,
        preferred_auth=[
            *(["publickey"] if key else []),
            *(["password", "keyboard-interactive"] if password else []),
        ],
        agent_path=None,
        agent_forwarding=False,
        pkcs11_provider=None,
        gss_host=None,
        gss_kex=False,
        gss_auth=False,
        host_based_auth=False,
        kex_algs=_EXCHANGES,
        compression_algs=["none"],
    )


async def _authenticate(connected: socket.socket, options: asyncssh.SSHClientConnectionOptions) -> None:
    connection = await asyncssh.connect(sock=connected, config=None, options=options)
    connection.close()
    with suppress(TimeoutError):
        async with asyncio.timeout(_GOODBYE_S):
            await connection.wait_closed()
    connection.abort()


def _normal(fingerprint: str) -> str:
    """`SHA256:` and base64 without its padding, as `ssh-keygen -l` shows it."""
    text = fingerprint.strip().rstrip("=")
    if not text or text.startswith("SHA256:"):
        return text
    if ":" in text:
        raise LoginNotConfigured("The host key's fingerprint must be its SHA256: form.")
    return f"SHA256:{text}"


def _translated(error: Exception) -> LoginFailed:
    if isinstance(error, asyncssh.PermissionDenied):
        return LoginRefused()
    if isinstance(error, asyncssh.Error):
        return LoginUnreachable("The server does not speak SSH, or broke the connection.")
    if isinstance(error, OSError):
        return LoginUnreachable()
    return LoginFailed("The server gave an answer that is not SSH's.")
