"""Tests of the sentences of a passage: where it is split, and how words of a question rank them."""

import pytest

from retinue.chat.engine import quotations
from retinue.knowledge import word_overlap
from retinue.knowledge.sentences import Sentence, sentences_of, split_sentences


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("It costs 0.38 euros. Pay at once!", ["It costs 0.38 euros.", "Pay at once!"]),
        ("Ask Mrs. Okafor, e.g. Monday. She knows.", ["Ask Mrs. Okafor, e.g. Monday.", "She knows."]),
        ("Open until 10 p.m. Parking is free.", ["Open until 10 p.m.", "Parking is free."]),
        ("Harrow & Lind Ltd. pays. J. R. Smith signs.", ["Harrow & Lind Ltd. pays.", "J. R. Smith signs."]),
        ("Needs WSL 2. There are packages.", ["Needs WSL 2.", "There are packages."]),
        ("Ab dem 3. März im 2. Stock. Bitte klingeln.", ["Ab dem 3. März im 2. Stock.", "Bitte klingeln."]),
        ("Yes. Each computer has its own.", ["Yes. Each computer has its own."]),
        ("¿Abre hoy? Sí, abre a las 9. ¡Venga!", ["¿Abre hoy?", "Sí, abre a las 9.", "¡Venga!"]),
        ("営業時間は九時からです。日曜日は休みです。", ["営業時間は九時からです。", "日曜日は休みです。"]),
        ("He said “Stop.” Then he left.", ["He said “Stop.”", "Then he left."]),
        ("See stashbox.example for 2.31 or v1.2.", ["See stashbox.example for 2.31 or v1.2."]),
        ("", []),
        ("...", []),
    ],
)
def test_running_text_is_cut_at_the_ends_of_sentences(text: str, sentences: list[str]) -> None:
    assert split_sentences(text) == sentences


@pytest.mark.parametrize(
    ("passage", "found"),
    [
        ("- One thing.\n- Another\n  that goes on.", [("One thing.", ""), ("Another that goes on.", "")]),
        ("1. Run it.\n2. Look.", [("Run it.", ""), ("Look.", "")]),
        (
            "| Key | Default |\n|---|---|\n| `a` | 7 |\n| `b` | |",
            [("Key: `a`; Default: 7", ""), ("Key: `b`", "")],
        ),
        (
            "item: Lock\nprice: 5\n\nitem: Key\nprice: 2",
            [("item: Lock; price: 5", ""), ("item: Key; price: 2", "")],
        ),
        ("Install it:\n\n```sh\napt install x\nx init\n```", [("Install it: apt install x; x init", "")]),
        (
            "Booking\nTrips are booked early, by the desk.",
            [("Trips are booked early, by the desk.", "Booking")],
        ),
        ("Monday 9-18\nTuesday 9-12", [("Monday 9-18", ""), ("Tuesday 9-12", "")]),
        ("## Hours\nWe open at nine.", [("We open at nine.", "Hours")]),
        ("A line that is long enough to have been wrapped by somebody's editor\nends here.", None),
    ],
)
def test_lists_tables_rows_and_code_are_units_of_their_own(
    passage: str, found: list[tuple[str, str]] | None
) -> None:
    units = sentences_of(passage)
    if found is None:
        assert [one.text for one in units] == [passage.replace("\n", " ")]
    else:
        assert units == [Sentence(*one) for one in found]


def test_hostile_passages_are_cut_in_reasonable_time() -> None:
    for passage in (
        "| " * 600,
        "```\n" * 300,
        ". " * 600,
        "a:b\n" * 300,
        "#" * 1200,
        "(" * 1200,
        "A. " * 400,
    ):
        assert len(sentences_of(passage)) <= 600


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("day", "days", True),
        ("licence", "license", True),
        ("encrypted", "encryption", True),
        ("rent", "rental", True),
        ("car", "carpet", False),
        ("return", "repair", False),
        ("wine", "wind", False),
        ("2024", "2025", False),
    ],
)
def test_words_are_the_same_by_their_beginning(one: str, other: str, is_same: bool) -> None:
    assert word_overlap.is_same_word(one, other) is is_same


def test_names_are_capitals_where_not_every_noun_has_one() -> None:
    english = "We ship to Norway and to Sweden, on every day of the week but not on holidays."
    assert word_overlap.names_in("Do you ship to New Zealand?", english) == ["new", "zealand"]
    german = "Das Treppenhaus wird von der Firma Glanz gereinigt, der Winterdienst vom Hausmeister."
    assert word_overlap.names_in("Wer putzt das Treppenhaus?", german) == []


@pytest.mark.parametrize(
    ("question", "sentence", "lacks"),
    [
        ("How many days do I get?", "Employees may add private days.", True),
        ("How many days do I get?", "Employees get thirty days.", False),
        ("Wie viel kostet das?", "Das kostet 5 Euro.", False),
        ("Combien ça coûte ?", "C'est cher.", True),
        ("When do you open?", "At dawn.", False),
    ],
)
def test_how_many_is_answered_by_a_number(question: str, sentence: str, lacks: bool) -> None:
    assert word_overlap.WeightedQuestion(question, []).lacks_number(sentence) is lacks


def test_the_pieces_of_a_quotation_are_the_whole_of_it() -> None:
    text = "“Two  words” [1]\n\n[1] a.pdf, page 2"
    said = list(quotations.split_words(text))
    assert "".join(said) == text
    assert len(said) == 7
