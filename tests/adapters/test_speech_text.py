"""Tests of the text that is spoken: which characters are read, and how it is split."""

import pytest

from retinue.adapters.embedded.speech.spoken_text import (
    MAX_PIECE_LENGTH,
    is_in_latin_script,
    split_for_speech,
    strip_markdown,
)


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("**bold** and _soft_ and `code`", "bold and soft and code"),
        ("# Title\n\n- one\n- two", "Title\n\none\ntwo"),
        ("see [the guide](/guide/) now", "see the guide now"),
        ("![a cat](https://example.com/c.png)", "a cat"),
        ("snake_case stays, 2 * 3 does not", "snake_case stays, 2  3 does not"),
        ("before\n```python\nx = 1\n```\nafter", "before\n\nx = 1\n\nafter"),
        ("1234567890123456", "1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6"),
    ],
)
def test_marks_that_nobody_says_are_left_out(written, said):
    assert strip_markdown(written) == said


@pytest.mark.parametrize(
    ("text", "is_latin"),
    [("Hello", True), ("żółw", True), ("123", True), ("", True), ("Привет", False), ("Hi 你好世界", False)],
)
def test_most_letters_decide_whether_a_voice_can_read_it(text, is_latin):
    assert is_in_latin_script(text) is is_latin


def test_a_long_sentence_is_divided_where_one_would_pause():
    clause = "and the committee, which had met before, "
    found = list(split_for_speech([clause * 10, "Short."]))
    assert [piece[-1] for piece in found] == [",", ",", "."]


@pytest.mark.parametrize("text", ["word " * 300, "word, " * 300, "x" * 4_096, "a." * 2_048, "[(" * 2_000])
def test_no_piece_and_no_word_is_too_long(text):
    found = list(split_for_speech([strip_markdown(text)]))
    assert max(len(piece) for piece in found) <= MAX_PIECE_LENGTH
    assert max(len(word) for piece in found for word in piece.split()) <= 60
    assert "".join("".join(found).split()) == "".join(strip_markdown(text).split())
