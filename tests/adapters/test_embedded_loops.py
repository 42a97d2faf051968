"""Tests of the loop detector: repeated sentences end a reply, similar ones do not."""

import pytest

from retinue.adapters.embedded.repetition import RepetitionDetector, repeats_itself

SENTENCE = "You can return an item within 45 days if you have the receipt. Refunds take 5 working days.\n\n"
ROWS = "".join(f"| Item {number} | {number}.50 |\n" for number in range(40))
TABLE = "| Name | Price |\n|---|---|\n" + ROWS


@pytest.mark.parametrize(
    "text",
    [
        "The shop opens at 9:30. " + SENTENCE * 3,
        SENTENCE * 3 + SENTENCE[:20] + SENTENCE[20:],
        "No. " * 60,
        "-" * 260,
        ("A longer paragraph of several sentences. " * 9 + "It ends here. ") * 3,
    ],
)
def test_the_same_again_and_again_is_noticed(text: str):
    assert repeats_itself(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Short.",
        SENTENCE * 2,
        "No. " * 20,
        "-" * 80,
        TABLE,
        "".join(f"{number}. {SENTENCE}" for number in range(1, 20)),
        "One two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen.",
    ],
)
def test_what_goes_on_is_let_go_on(text: str):
    assert not repeats_itself(text)


def test_a_listener_is_tired_soon_after_the_third_time():
    listener = RepetitionDetector()
    said = 0
    for piece in (SENTENCE * 20).split(" "):
        said += len(piece) + 1
        if listener.should_stop_after(f"{piece} "):
            break
    assert len(SENTENCE) * 3 <= said < len(SENTENCE) * 4
    assert listener.pieces > 30


def text_until_stopped(pieces: list[str], brief_tokens: int) -> str:
    listener = RepetitionDetector(brief_tokens)
    heard = ""
    for piece in pieces:
        heard += piece
        if listener.should_stop_after(piece):
            break
    return heard


def test_a_brief_answer_ends_behind_a_sentence_that_was_said_before() -> None:
    text = "The shop is open all day . We sell bread . The shop is open all day . And more ."
    heard = text_until_stopped([f"{word} " for word in text.split()], 256)
    assert heard.rstrip() == text.removesuffix(" And more .")


def test_a_brief_answer_ends_behind_the_first_sentence_after_three_quarters() -> None:
    pieces = [f"word{number} " if number % 10 else f"end{number}. " for number in range(1, 100)]
    heard = text_until_stopped(pieces, 40)
    assert len(heard.split()) == 30
    assert heard.rstrip().endswith("end30.")


def test_without_a_bound_only_circles_end_an_answer() -> None:
    pieces = [f"word{number}. " for number in range(300)]
    assert text_until_stopped(pieces, 0) == "".join(pieces)
