import json

import msgspec
import pytest

from retinue.kit.errors import Invalid, InvalidJson, PayloadTooLarge
from retinue.kit.http.bodies import ClientGone, check_json_shape, read_body


class Sender:
    """Hands out a body in pieces and counts what was asked for."""

    def __init__(self, *pieces, ends=True):
        self._pieces = list(pieces)
        self._ends = ends
        self.asked = 0

    async def __call__(self):
        self.asked += 1
        if not self._pieces:
            return {"type": "http.disconnect"}
        piece = self._pieces.pop(0)
        more = bool(self._pieces) or not self._ends
        return {"type": "http.request", "body": piece, "more_body": more}


async def test_a_body_is_read_whole_in_one_piece_or_many():
    assert await read_body(Sender(b"hello"), 5, b"5") == b"hello"
    assert await read_body(Sender(b"he", b"", b"llo"), 5, None) == b"hello"
    assert await read_body(Sender(b""), 5, None) == b""


async def test_a_declared_length_over_the_limit_is_refused_unread():
    for length in (b"6", b"00006", b"9" * 5000):
        sender = Sender(b"hello!")
        with pytest.raises(PayloadTooLarge):
            await read_body(sender, 5, length)
        assert sender.asked == 0


@pytest.mark.parametrize("length", [b"2", b"-1", b"+3", b"0x1", b"", b"\xb2", b"1e9"])
async def test_a_length_that_lies_changes_nothing(length):
    assert await read_body(Sender(b"hel", b"lo"), 5, length) == b"hello"
    with pytest.raises(PayloadTooLarge):
        await read_body(Sender(b"hel", b"lo!"), 5, length)


async def test_an_endless_body_is_left_at_the_limit():
    sender = Sender(*[bytes(1024)] * 1000, ends=False)
    with pytest.raises(PayloadTooLarge):
        await read_body(sender, 10 * 1024, None)
    assert sender.asked == 11


@pytest.mark.parametrize("pieces", [(), (b"hel",)])
async def test_a_client_that_leaves_is_not_a_short_body(pieces):
    with pytest.raises(ClientGone):
        await read_body(Sender(*pieces, ends=False), 5, b"5")


@pytest.mark.parametrize(
    "body",
    [
        b'{"name":"Support","tags":["a","b"],"meta":{"k":1}}',
        b"[" * 64 + b"]" * 64,
        b'{"a":' * 64 + b"1" + b"}" * 64,
        b"[" + b"[]," * 5000 + b"[]]",
        json.dumps({"text": "[{" * 5000}).encode(),
        json.dumps({"text": '"[' * 5000, "more": '\\"[' * 200}).encode(),
        json.dumps({"text": ":" * 60_000}).encode(),
        json.dumps({str(number): number for number in range(10_000)}).encode(),
        b"",
        b"[",
        b'"\\',
    ],
)
def test_an_ordinary_shape_passes(body):
    check_json_shape(body)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"[" * 65 + b"]" * 65, "nested"),
        (b"[" * 100_000, "nested"),
        (b'{"a":' * 65 + b"1" + b"}" * 65, "nested"),
        (b'["]",' * 65 + b"1" + b"]" * 65, "nested"),
        (b'["\\\\",' * 65 + b"1" + b"]" * 65, "nested"),
        (json.dumps({str(number): number for number in range(10_001)}).encode(), "keys"),
        (b"{" + b'"":0,' * 10_000 + b'"":0}', "keys"),
        (b"{" + b'"a":0,' * 1_000_000 + b'"a":0}', "keys"),
    ],
)
def test_too_deep_or_too_many_keys_is_invalid_json(body, said):
    with pytest.raises(InvalidJson, match=said):
        check_json_shape(body)


@pytest.mark.parametrize("text", ["\0", "a\0b", "\\\0", '"\0', "\\\\\0"])
def test_a_nul_in_a_text_or_a_key_is_refused(text):
    for body in (json.dumps({"a": text}), json.dumps({text: 1}), json.dumps([["x", text]])):
        with pytest.raises(Invalid) as refused:
            check_json_shape(body.encode())
        assert set(refused.value.details) == {"body"}


@pytest.mark.parametrize("text", ["\\u0000", "\\\\u0000", "a\\u0000b", "u0000", "\\n\\\\\\u0000"])
def test_a_backslash_before_u0000_is_only_text(text):
    body = json.dumps({"a": text}).encode()
    assert msgspec.json.decode(body) == {"a": text}
    check_json_shape(body)


@pytest.mark.parametrize(
    "body",
    [
        b'{"a":NaN}',
        b'{"a":Infinity}',
        b'{"a":"\\ud800"}',
        b'{"a":"\\udc00 and more text behind it"}',
        b"\xef\xbb\xbf{}",
        b'{"a":"\xff"}',
        b'{"a":"\x00"}',
        b"9" * 10_000,
        b"{" * 64,
        b'{"a":1' + b";a" * 1000,
    ],
)
def test_what_the_shape_lets_pass_the_decoder_refuses(body):
    check_json_shape(body)
    with pytest.raises((msgspec.MsgspecError, UnicodeDecodeError)):
        msgspec.json.decode(body)
