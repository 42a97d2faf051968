"""An SSH login: key exchange, host key and authentication, independent of this machine's SSH setup."""

import asyncio
import logging
import socket
from contextlib import suppress

import asyncssh

from retinue.adapters.logins.connections import open_socket, pin
from retinue.adapters.logins.errors import (
    HostKeyMismatch,
    LoginCheckFailed,
    LoginNotConfigured,
    LoginRefused,
    LoginUnreachable,
)
from retinue.adapters.logins.private_keys import load_private_key
from retinue.kit.egress import Egress
from retinue.kit.errors import RetinueError
from retinue.kit.secrets import Secret

logging.getLogger("asyncssh").setLevel(logging.WARNING)

_CLOSE_TIMEOUT_SECONDS = 1.0
# The exchange runs on the event loop, so groups that a server may choose freely are excluded.
_KEY_EXCHANGES = (
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
    """Trusts the expected host key, or any if none is expected."""

    def __init__(self, expected: str) -> None:
        self._expected = expected
        self.seen_fingerprint = ""

    def validate_host_public_key(self, host: str, addr: str, port: int, key: asyncssh.SSHKey) -> bool:  # noqa: ARG002 - asyncssh's signature
        self.seen_fingerprint = key.get_fingerprint()
        return not self._expected or self.seen_fingerprint == self._expected


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
    """Log in and out again; return the fingerprint of the host key."""
    if not username or not (private_key or password):
        raise LoginNotConfigured("The login requires a username and a private key or password.")
    key = await asyncio.to_thread(load_private_key, private_key, passphrase) if private_key else None
    expected = _normalize_fingerprint(host_key_fingerprint)
    # A host has several kinds of keys, and only one of them is the expected one.
    kinds = _HOST_KEYS if expected else (tuple(name for names in _HOST_KEYS for name in names),)
    pinned = await pin(egress, host, port)
    seen_fingerprint = ""
    for algorithms in kinds:
        client = _Client(expected)
        try:
            options = _options(client, username, key, password, algorithms)
        except ValueError:
            raise LoginNotConfigured("The username contains characters that SSH does not allow.") from None
        try:
            await _authenticate(await open_socket(pinned), options)
        except (asyncssh.HostKeyNotVerifiable, asyncssh.KeyExchangeFailed):
            seen_fingerprint = client.seen_fingerprint or seen_fingerprint
        except RetinueError:
            raise
        except Exception as error:  # noqa: BLE001 - a hostile server can make the library raise anything
            raise _translate_error(error) from None
        else:
            return client.seen_fingerprint
    raise (
        HostKeyMismatch
        if seen_fingerprint
        else LoginUnreachable("The server supports no accepted key exchange.")
    )


def _options(
    client: _Client, username: str, key: asyncssh.SSHKey | None, password: Secret, algorithms: tuple[str, ...]
) -> asyncssh.SSHClientConnectionOptions:
    # Set every option: asyncssh takes missing ones from the server's SSH agent and home folder.
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
        kex_algs=_KEY_EXCHANGES,
        compression_algs=["none"],
    )


async def _authenticate(connected: socket.socket, options: asyncssh.SSHClientConnectionOptions) -> None:
    connection = await asyncssh.connect(sock=connected, config=None, options=options)
    connection.close()
    with suppress(TimeoutError):
        async with asyncio.timeout(_CLOSE_TIMEOUT_SECONDS):
            await connection.wait_closed()
    connection.abort()


def _normalize_fingerprint(fingerprint: str) -> str:
    """Return the fingerprint as `ssh-keygen -l` shows it: `SHA256:` and base64 without padding."""
    text = fingerprint.strip().rstrip("=")
    if not text or text.startswith("SHA256:"):
        return text
    if ":" in text:
        raise LoginNotConfigured("The host key fingerprint must be in SHA256: format.")
    return f"SHA256:{text}"


def _translate_error(error: Exception) -> LoginCheckFailed:
    if isinstance(error, asyncssh.PermissionDenied):
        return LoginRefused()
    if isinstance(error, asyncssh.Error):
        return LoginUnreachable("The server is not an SSH server, or closed the connection.")
    if isinstance(error, OSError):
        return LoginUnreachable()
    return LoginCheckFailed("The server's response is not in the SSH protocol.")
