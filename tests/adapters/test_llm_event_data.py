"""Cutting events out of bytes: the pieces a stream comes in make no difference."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retinue.adapters.llm import ModelError
from retinue.adapters.llm.sse_parser import MAX_EVENT_BYTES, SseParser

STREAM = (
    b": hello\r\n\r\n"
    b'data: {"text":"Gr\xc3\xbc\xc3\x9fe \xf0\x9f\x91\xa9"}\n\n'
    b"event: x\r\ndata:no space\r\nid: 1\r\n\r\n"
    b"data: one\rdata: two\r\r"
    b"data\n\ndatum: 5\n\n"
    b"data:  two spaces\n\n"
    b"data:\ndata:\n\n"
    b"data: [DONE]\n\n"
    b"data: cut off"
)
EVENTS = [
    '{"text":"Grüße 👩"}'.encode(),
    b"no space",
    b"one\ntwo",
    b" two spaces",
    b"\n",
    b"[DONE]",
]


def read(pieces) -> list[bytes]:
    events = SseParser()
    return [data for piece in pieces for data in events.feed(piece)]


def test_every_event_of_a_stream_is_found():
    assert read([STREAM]) == EVENTS


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7])
def test_pieces_of_any_size_give_the_same_events(size):
    assert read(STREAM[start : start + size] for start in range(0, len(STREAM), size)) == EVENTS


def test_every_place_to_cut_gives_the_same_events():
    for place in range(len(STREAM) + 1):
        assert read([STREAM[:place], b"", STREAM[place:]]) == EVENTS


@settings(deadline=None, max_examples=50)
@given(st.lists(st.integers(0, len(STREAM)), max_size=30))
def test_any_cuts_give_the_same_events(cuts):
    places = [0, *sorted(cuts), len(STREAM)]
    assert read(STREAM[start:end] for start, end in pairwise(places)) == EVENTS


@given(st.binary(max_size=300), st.integers(1, 9))
def test_garbage_gives_the_same_whether_it_comes_whole_or_in_pieces(garbage, size):
    assert read([garbage]) == read(garbage[start : start + size] for start in range(0, len(garbage), size))


def test_an_event_may_be_as_large_as_the_limit_and_no_larger():
    line = b"data: " + b"x" * (MAX_EVENT_BYTES - 10)
    assert len(read([line, b"\n\n"])[0]) == MAX_EVENT_BYTES - 10
    for pieces in (
        [line, b"x" * 20],
        [b"data: x\n" * 64] * (MAX_EVENT_BYTES // 512 + 1),
        [b"data:\n" * (MAX_EVENT_BYTES // 6 + 1)],
    ):
        with pytest.raises(ModelError, match="too large"):
            read(pieces)


def test_many_events_are_no_large_event():
    assert len(read([b"data: " + b"x" * 1000 + b"\n\n"] * 3000)) == 3000
    assert read([b": ping\n\n" * 1000] * 300) == []
