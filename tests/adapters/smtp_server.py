"""A real SMTP server for the mail tests: prints its port, files what it receives, ends with its stdin."""

import argparse
import asyncio
import json
import ssl
import sys
import warnings
from pathlib import Path

from aiosmtpd.smtp import SMTP, AuthResult


class Inbox:
    def __init__(self, options):
        self.options = options
        self.folder = Path(options.folder)

    async def handle_RCPT(self, server, session, envelope, address, rcpt_options):
        if address.startswith("refused"):
            return "550 5.1.1 no such mailbox"
        if address.startswith("busy"):
            return "451 4.3.0 try again later"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        if self.options.hang == "data":
            await asyncio.Event().wait()
        name = f"{len(list(self.folder.glob('*.eml'))):03}"
        facts = {
            "from": envelope.mail_from,
            "to": envelope.rcpt_tos,
            "tls": session.ssl is not None or self.options.tls == "first",
            "login": (session.auth_data or b"").decode() or None,
        }
        (self.folder / f"{name}.json").write_text(json.dumps(facts))
        (self.folder / f"{name}.eml").write_bytes(envelope.original_content)
        return "250 OK"


def authenticator(expected):
    def check(server, session, envelope, mechanism, data):
        given = f"{data.login.decode()}:{data.password.decode()}"
        if given != expected:
            return AuthResult(success=False, handled=False, message=f"535 5.7.8 wrong login {given}")
        return AuthResult(success=True, auth_data=data.login)

    return check


class Rude(SMTP):
    """Hangs up instead of saying goodbye."""

    async def smtp_QUIT(self, arg):
        self.transport.abort()


class Mute(asyncio.Protocol):
    """Accepts the connection and never says a word."""


def tls_context(options):
    if not options.tls:
        return None
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(options.certificate)
    return context


def session(options, context):
    """Return the protocol that serves one connection."""
    if options.hang == "greeting":
        return Mute()
    kind = Rude if options.hang == "quit" else SMTP
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Requiring AUTH while not requiring TLS")
        return kind(
            Inbox(options),
            tls_context=context if options.tls == "start" else None,
            authenticator=authenticator(options.login) if options.login else None,
            auth_required=bool(options.login),
            auth_require_tls=False,
            enable_SMTPUTF8=True,
        )


async def main(options):
    context = tls_context(options)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: session(options, context), "127.0.0.1", 0, ssl=context if options.tls == "first" else None
    )
    print(server.sockets[0].getsockname()[1], flush=True)  # noqa: T201 - this is how the test learns the port
    await loop.run_in_executor(None, sys.stdin.read)
    server.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--login", default="")
    parser.add_argument("--hang", choices=["", "greeting", "data", "quit"], default="")
    parser.add_argument("--tls", choices=["", "start", "first"], default="")
    parser.add_argument("--certificate", default="")
    asyncio.run(main(parser.parse_args()))
