"""Texts are cut where a reader would pause, lose nothing, and hostile ones take no longer than others."""

import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retinue.adapters.documents.child.chunking import Chunker
from retinue.adapters.documents.child.graphemes import grapheme_start
from retinue.adapters.documents.child.sections import Section

FAMILY, FLAG, THUMB, ACCENTED = "👩\u200d👩\u200d👧", "🇩🇪", "👍🏽", "e\u0301\u0327"
TEXTS = st.text(st.sampled_from([*'ab A.!?,:。、\n\t")', "\u0301", "\u200d", "🇩", "👧", "é"]), max_size=400)


def cut(text: str, size: int = 40, overlap: int = 0) -> list[str]:
    return [chunk.text for chunk in Chunker(size, overlap).chunks(Section(text))]


@pytest.mark.parametrize(
    ("gap", "chunks"),
    [
        ("\n\n", []),
        ("", ["Short."]),
        ("\n\n", ["One paragraph.", "Another one, that is much longer."]),
        ("\n \t\n", ["One paragraph.", "Another one, that is much longer."]),
        (" ", ["Hi.\n\nA paragraph that is longer.", "It goes on."]),
        ("\n", ["- the first item\n- the second item", "- the third one"]),
        ("\n", ["Lines that were\nwrapped here.", "Next one\nfollows."]),
        (" ", ["Words with e.g. one abbreviation and a", "few more."]),
        (" ", ["We met Ada L. Byron on the 12. May.", "She was late."]),
        (" ", ['He asked "why is that so?" "Because."', "It ended."]),
        (" ", ["no sentence but words that go on and", "on for ever"]),
        ("", ['{"alpha":1,"beta":2,"gamma":3,', '"delta":4,"e":5}']),
    ],
)
def test_a_chunk_ends_where_a_reader_would_pause(gap: str, chunks: list[str]) -> None:
    assert cut(f"  {gap.join(chunks)} \n") == chunks


def test_chinese_is_cut_after_its_sentences_and_commas() -> None:
    sentence = "图书馆在河边、离市场不远、请问现在几点了。"
    assert cut(sentence * 2, 30) == [sentence, sentence]
    assert cut(sentence, 15) == ["图书馆在河边、离市场不远、", "请问现在几点了。"]


def test_a_chunk_repeats_the_end_of_the_one_before() -> None:
    prose = "The pump runs dry. It stops. The tank is empty now. It is filled."
    assert cut(prose, 52, 15) == [
        "The pump runs dry. It stops. The tank is empty now.",
        "is empty now. It is filled.",
    ]
    whole = cut("The pump runs dry at noon. It stops. The tank is empty. It is filled.", 40, 16)
    assert whole == [
        "The pump runs dry at noon. It stops.",
        "It stops. The tank is empty.",
        "tank is empty. It is filled.",
    ]


def test_between_paragraphs_and_lines_only_whole_ones_are_repeated() -> None:
    text = "A paragraph that fills it.\n\nFees:\n\nTwenty a day, and nothing on Sundays."
    assert cut(text, 48, 12) == [
        "A paragraph that fills it.\n\nFees:",
        "Fees:\n\nTwenty a day, and nothing on Sundays.",
    ]
    lines = "- the first item\n- two\n- the third item\n- the fourth item"
    assert cut(lines, 40, 19) == [
        "- the first item\n- two\n- the third item",
        "- the third item\n- the fourth item",
    ]
    assert cut(lines, 40, 10) == ["- the first item\n- two\n- the third item", "- the fourth item"]


def test_the_last_chunk_is_not_a_crumb() -> None:
    chunks = cut("word " * 17, 80)
    assert [len(chunk) for chunk in chunks] == [64, 19]


@pytest.mark.parametrize("whole", [FAMILY, FLAG, THUMB, ACCENTED])
def test_a_character_of_several_code_points_is_not_cut(whole: str) -> None:
    chunks = cut(whole * 100)
    assert "".join(chunks) == whole * 100
    assert [chunk for chunk in chunks if chunk.replace(whole, "")] == []


def test_a_character_without_an_end_is_cut_all_the_same() -> None:
    assert grapheme_start("e" + "\u0301" * 1000, 900) == 900
    assert {len(chunk) for chunk in cut("\u200d" * 1000)} <= {10, 30, 40}


@given(TEXTS, st.integers(8, 60), st.data())
def test_nothing_is_lost_and_no_chunk_is_too_long(text: str, size: int, data: st.DataObject) -> None:
    overlap = data.draw(st.integers(0, size // 2))
    position = 0
    for chunk in cut(text, size, overlap):
        assert 0 < len(chunk) <= size
        assert chunk == chunk.strip()
        # Each begins at most `overlap` before the end of the one before, with nothing but space between them.
        start = text.find(chunk, max(position - overlap, 0))
        assert start >= 0
        assert not text[position:start].strip()
        position = max(position, start + len(chunk))
    assert not text[position:].strip()


def test_an_overlap_of_most_of_a_chunk_is_refused() -> None:
    with pytest.raises(ValueError, match="half"):
        Chunker(100, 51)


@pytest.mark.parametrize(
    "text",
    [
        "x",
        " ",
        ". ",
        '."',
        ")",
        "a ",
        "a\n \t",
        "\u200d",
        "e\u0301",
        "🇩",
        "。",
        "a." + " " * 1000,
        "." + '"' * 300,
    ],
)
def test_hostile_text_takes_time_in_proportion(text: str) -> None:
    """A hundred times as fast as the child's limit, on a busy machine."""
    long = (text * 1_000_000)[:1_000_000] + "x"
    started = time.process_time()
    assert sum(1 for _ in Chunker(1200, 150).chunks(Section(long))) <= 2600
    assert time.process_time() - started < 3


def test_prose_fills_its_chunks() -> None:
    chosen = random.Random(1)
    text = " ".join(f"Some {'word ' * chosen.randint(5, 15)}end." for _ in range(1000))
    chunks = cut(text, 1200, 150)
    assert all(chunk.endswith(".") for chunk in chunks)
    assert sum(map(len, chunks)) / len(chunks) > 1000
