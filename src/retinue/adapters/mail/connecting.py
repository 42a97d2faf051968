"""Connections to a mail server at its pinned addresses."""

import ssl

import aiosmtplib

from retinue.kit.egress import PinnedAddress
from retinue.kit.egress.tls import NamedContext

CONNECT_S = 5.0
ADDRESSES_TRIED = 3


async def connect(pinned: PinnedAddress, encryption: str) -> aiosmtplib.SMTP:
    """A server that has greeted us; `auto` encrypts if that is offered, and is no more than a courtesy."""
    last: Exception = OSError("no address")
    for address in pinned.addresses[:ADDRESSES_TRIED]:
        client = aiosmtplib.SMTP(
            hostname=address,
            port=pinned.port,
            timeout=CONNECT_S,
            use_tls=encryption == "tls",
            start_tls=None if encryption == "auto" else encryption == "starttls",
            tls_context=_context(pinned.host, encryption),
            # Left out, this machine's own name would be told.
            local_hostname="localhost",
        )
        try:
            await client.connect()
            await client.ehlo()
        except aiosmtplib.SMTPConnectError as error:
            last = error
        except BaseException:
            client.close()
            raise
        else:
            return client
    raise last


def _context(host: str, encryption: str) -> ssl.SSLContext | None:
    if encryption == "none":
        return None
    context = NamedContext.of(host)
    if encryption == "auto":
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    else:
        context.load_default_certs()
    return context
