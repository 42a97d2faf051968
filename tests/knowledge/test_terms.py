"""Words as they are searched, and as they stand in the index."""

import pytest

from retinue.knowledge.terms import MAX_QUERY_TERMS, extract_terms, hash_term, hash_terms, query_terms


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Send it back.", ["send", "it", "back"]),
        ("AX-4410/B", ["ax", "4410", "b", "ax4410b"]),
        ("version 4.12", ["version", "4", "12", "412"]),
        ("STRASSE Straße", ["strasse"]),
        ("\ufb01lter \uff21\uff22", ["filter", "ab"]),
        ("don't", ["don", "t"]),
        ("snake_case", ["snake", "case", "snakecase"]),
        ("返品ポリシー", ["返品", "品ポ", "ポリ", "リシ", "シー"]),
        ("水", ["水"]),
        ("Zürich 水道水", ["zürich", "水道", "道水"]),
        ("ab水道cd", ["ab", "水道", "cd"]),
        ("", []),
        ("?! -- ()", []),
    ],
)
def test_a_text_is_taken_apart(text: str, words: list[str]) -> None:
    assert list(extract_terms(text)) == words


def test_a_question_is_searched_by_what_not_every_text_has() -> None:
    assert query_terms("What does the code E-17 on my pump mean?") == [
        "code",
        "e",
        "17",
        "e17",
        "pump",
        "mean",
    ]
    assert query_terms("what is the") == []
    assert len(query_terms(" ".join(f"word{number}" for number in range(100)))) == MAX_QUERY_TERMS


def test_the_same_word_stands_differently_in_two_bases() -> None:
    assert hash_term("kb_a", "pump") == hash_term("kb_a", "pump")
    assert hash_term("kb_a", "pump") != hash_term("kb_b", "pump")


@pytest.mark.parametrize(
    "text", ["a\"b' OR 1=1 --", "NEAR(x y) AND* -c ^d", "x:* & !y | (z)", "ünï 水道", "1e5 0x1F"]
)
def test_nothing_but_letters_reaches_a_database(text: str) -> None:
    made = hash_terms("kb_a", text)
    assert made.replace(" ", "").isalpha()
    assert made.isascii()
    assert made.islower()
