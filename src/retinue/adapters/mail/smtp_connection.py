"""Connections to a mail server at its pinned addresses."""

import ssl

import aiosmtplib

from retinue.kit.egress import PinnedAddress
from retinue.kit.egress.tls import ServerNameContext

CONNECT_TIMEOUT_SECONDS = 5.0
MAX_ADDRESSES_TRIED = 3


async def connect(pinned: PinnedAddress, encryption: str) -> aiosmtplib.SMTP:
    """Connect and greet the server; `auto` encrypts if offered, without verifying the server."""
    last_error: Exception = OSError("no address")
    for address in pinned.addresses[:MAX_ADDRESSES_TRIED]:
        client = aiosmtplib.SMTP(
            hostname=address,
            port=pinned.port,
            timeout=CONNECT_TIMEOUT_SECONDS,
            use_tls=encryption == "tls",
            start_tls=None if encryption == "auto" else encryption == "starttls",
            tls_context=_context(pinned.host, encryption),
            # Otherwise this machine's name would be sent.
            local_hostname="localhost",
        )
        try:
            await client.connect()
            await client.ehlo()
        except aiosmtplib.SMTPConnectError as error:
            last_error = error
        except BaseException:
            client.close()
            raise
        else:
            return client
    raise last_error


def _context(host: str, encryption: str) -> ssl.SSLContext | None:
    if encryption == "none":
        return None
    context = ServerNameContext.of(host)
    if encryption == "auto":
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    else:
        context.load_default_certs()
    return context
