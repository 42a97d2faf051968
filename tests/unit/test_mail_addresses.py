"""Senders are read, and From headers written, the same way by every Python."""

import email.policy
from email import message_from_bytes
from email.message import EmailMessage

import pytest

from retinue.adapters.mail import addresses
from retinue.adapters.mail.addresses import SMTP, SMTPUTF8, from_header, parse_address, parse_named_address
from tests.each_python import answers

READ = {
    "retinue@[127.0.0.1]": ("", "retinue@[127.0.0.1]"),
    "retinue@[IPv6:::1]": ("", "retinue@[IPv6:::1]"),
    "us@example.com": ("", "us@example.com"),
    "  us@example.com ": ("", "us@example.com"),
    "<us@example.com>": ("", "us@example.com"),
    "us@localhost": ("", "us@localhost"),
    "Us <us@example.com>": ("Us", "us@example.com"),
    "Us<us@[10.0.0.1]>": ("Us", "us@[10.0.0.1]"),
    "J. R. Doe <us@example.com>": ("J. R. Doe", "us@example.com"),
    "Retinue (staging) <us@example.com>": ("Retinue (staging)", "us@example.com"),
    "Jörg Ünal <us@bücher.example>": ("Jörg Ünal", "us@xn--bcher-kva.example"),
    '"Doe, John" <us@example.com>': ("Doe, John", "us@example.com"),
    '"Doe, <x@y>" & "Sons; Ltd." <us@example.com>': ("Doe, <x@y> & Sons; Ltd.", "us@example.com"),
    '"Say \\"hi\\" \\\\o/" <us@example.com>': ('Say "hi" \\o/', "us@example.com"),
    '"" <us@example.com>': ("", "us@example.com"),
}
REFUSED = [
    "",
    " ",
    "nobody",
    "@example.com",
    "us@",
    "a@b@c",
    "<>",
    "Us <>",
    "Us <nobody>",
    "us@[not an address]",
    "us@example.com, them@example.com",
    "us@example.com <them@example.com>",
    "Doe, John <us@example.com>",
    '"Doe <us@example.com>',
    'Doe" <us@example.com>',
    "Us <us@example.com> (comment)",
    "Us <a@b> <c@d>",
    "Us <us@example.com",
    "us@example.com\r\nBcc: x@y",
    "Us <us@example.com>\n",
    "=?utf-8?q?a?=@example.com",
    "us@ex\u2028ample.com",
    "a" * 65 + "@example.com",
    "us@" + "b" * 254,
    "us@a..ü",
]
WRITTEN = {
    ("", "us@[127.0.0.1]"): "us@[127.0.0.1]",
    ("Us & Sons", "us@example.com"): "Us & Sons <us@example.com>",
    ("Doe, John", "us@example.com"): '"Doe, John" <us@example.com>',
    ('Say "hi" \\o/', "us@example.com"): '"Say \\"hi\\" \\\\o/" <us@example.com>',
    ("Größe", "us@example.com"): "=?utf-8?b?R3LDtsOfZQ==?= <us@example.com>",
}
# Long enough to be folded, and each holds what would be an address without its quotes.
HOSTILE_NAMES = [
    "boss@bank.example, " * 10,
    "boss@bank.example, x <boss@bank.example> " * 4,
    "Ü" * 60 + ", boss@bank.example <boss@bank.example>",
    "=?utf-8?q?boss=40bank.example=2C_x?=",
    "=?utf-8?q?a=0D=0ABcc:_x@y?=",
    '" <boss@bank.example>, "',
    "x" * 600,
]
_PARSE = "def tried(text): return module.parse_named_address(text)"
_WRITE = """
from email.message import EmailMessage

def tried(sender):
    message = EmailMessage(policy=module.SMTP)
    message["From"] = module.from_header(*sender)
    return message.as_bytes().decode()
"""


@pytest.mark.parametrize("text", READ)
def test_a_sender_is_an_address_alone_or_after_a_name(text):
    assert parse_named_address(text) == READ[text]


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_no_single_sender_is_refused(text):
    assert parse_named_address(text) is None
    assert parse_address(text) is None


@pytest.mark.parametrize("sender", WRITTEN)
def test_a_name_is_quoted_where_it_must_be(sender):
    assert from_header(*sender) == WRITTEN[sender]


@pytest.mark.parametrize("name", HOSTILE_NAMES, ids=range(len(HOSTILE_NAMES)))
@pytest.mark.parametrize("policy", [SMTP, SMTPUTF8])
def test_a_name_never_becomes_an_address(name, policy):
    message = EmailMessage(policy=policy)
    message["From"] = from_header(" ".join(name.split()), "us@example.com")
    message.set_content("x")
    wire = message.as_bytes()
    assert max(map(len, wire.split(b"\r\n"))) < 998
    read = message_from_bytes(wire, policy=email.policy.default)
    [sender] = read["From"].addresses
    assert sender.addr_spec == "us@example.com"
    # Older Pythons keep the blanks between encoded words, which mean nothing.
    assert sender.display_name.replace(" ", "") == name.replace(" ", "")
    assert read.keys() == message.keys()


def test_every_python_reads_and_writes_the_same():
    texts = [*READ, *REFUSED]
    for python, found in answers(addresses, _PARSE, texts).items():
        assert found == [list(READ[text]) if text in READ else None for text in texts], python
    senders = [*WRITTEN, *((name, "us@example.com") for name in HOSTILE_NAMES)]
    written = answers(addresses, _WRITE, senders)
    assert len(set(map(tuple, written.values()))) == 1, written
