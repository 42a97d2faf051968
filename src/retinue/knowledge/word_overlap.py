"""Word evidence for or against a sentence: shared words, names and numbers."""

import math
import re
from collections.abc import Callable, Sequence

from retinue.knowledge.terms import STOP_WORDS, extract_terms

# Similarity from which a word counts as paraphrased, and from which it counts fully.
_MIN_WORD_SIMILARITY, _FULL_WORD_SIMILARITY = 0.4, 0.7
_MIN_SHARED_LETTERS = 4
_MIN_SHARED_SHARE = 0.6
# Above this share of capitalised words, nouns are capitalised (German) and capitals mark no names.
_MAX_CAPITALS_SHARE = 0.2

_WORD = re.compile(r"[^\W\d_][\w'\u2019-]*")
_SENTENCE_START = re.compile(r"(?:^|[.!?…:]\s+)[\"'\u201c\u2018\u00ab(¿¡]*$")
_ASKS_FOR_NUMBER = re.compile(
    r"\b(how (?:much|many|old|tall|far|large|big|heavy|high)|what (?:does it|do they|is the) (?:cost|price)|"
    r"wie ?(?:viel|viele|teuer|hoch|alt|groß|schwer|weit)|combien|cuánt[oa]s?|quant[oiae])\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"\d|\b(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|"
    r"hundred|thousand|million|half|quarter|third|double|free|none|nothing|unlimited|"
    r"zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|halb\w*|kostenlos|unbegrenzt|"
    r"deux|trois|quatre|cinq|six|sept|huit|neuf|dix|gratuit\w*|"
    r"dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|gratis)\b",
    re.IGNORECASE,
)

Similarity = Callable[[str, str], float]


def content_words(text: str) -> list[str]:
    """Return the words of a text that carry its meaning."""
    return [
        word
        for word in extract_terms(text)
        if word not in STOP_WORDS and (len(word) > 1 or not word.isascii())
    ]


def is_same_word(word: str, other: str) -> bool:
    """Return whether two words are forms of one, by their common prefix, for any language."""
    if word == other:
        return True
    shared = next((at for at, (a, b) in enumerate(zip(word, other, strict=False)) if a != b), None)
    shared = min(len(word), len(other)) if shared is None else shared
    longer = max(len(word), len(other))
    if shared >= _MIN_SHARED_LETTERS and shared >= _MIN_SHARED_SHARE * longer:
        return True
    # "day" and "days", "car" and "cars".
    return shared >= 3 and longer - shared <= 1 and shared == min(len(word), len(other))


class WeightedQuestion:
    """The words of a question, weighted by their rarity among the candidate sentences."""

    def __init__(self, text: str, sentences: Sequence[Sequence[str]]) -> None:
        """`sentences` are the content words of each candidate sentence."""
        self.text = text
        self.words = content_words(text)
        self._weights = {
            word: _weight(sum(_contains_word(sentence, word) for sentence in sentences), len(sentences))
            for word in self.words
        }
        self._codes = [word for word in self.words if len(word) > 2 and any(map(str.isdigit, word))]
        self.asks_for_number = _ASKS_FOR_NUMBER.search(text) is not None

    def shares_code_with(self, sentence: Sequence[str]) -> bool:
        """Return whether the sentence contains a code or number of the question."""
        return any(code in sentence for code in self._codes)

    def missing(self, sentence: Sequence[str]) -> list[str]:
        return [word for word in self.words if not _contains_word(sentence, word)]

    def coverage(self, sentence: Sequence[str], similarity: Similarity | None = None) -> float:
        """Return the weighted share of the question's words a sentence contains or paraphrases."""
        total = sum(self._weights.values())
        if not total:
            return 0.0
        return (
            sum(
                weight * self._word_match(word, sentence, similarity)
                for word, weight in self._weights.items()
            )
            / total
        )

    def _word_match(self, word: str, sentence: Sequence[str], similarity: Similarity | None) -> float:
        if _contains_word(sentence, word):
            return 1.0
        # Codes and numbers match exactly or not at all.
        if similarity is None or not sentence or any(map(str.isdigit, word)):
            return 0.0
        best = max(similarity(word, other) for other in sentence)
        share = (best - _MIN_WORD_SIMILARITY) / (_FULL_WORD_SIMILARITY - _MIN_WORD_SIMILARITY)
        return min(1.0, max(0.0, share))

    def lacks_number(self, sentence: str) -> bool:
        """Return whether the question asks for a quantity and the sentence has no number."""
        return self.asks_for_number and _NUMBER.search(sentence) is None


def _contains_word(sentence: Sequence[str], word: str) -> bool:
    return any(is_same_word(word, other) for other in sentence)


def _weight(matches: int, sentences: int) -> float:
    """Return the inverse document frequency of BM25, as in `ranking`."""
    return math.log1p((sentences - matches + 0.5) / (matches + 0.5))


def names_in(question: str, passages: str) -> list[str]:
    """Return the names in a question: capitalised words, if the language reserves capitals for names."""
    if _capitals_share(passages) > _MAX_CAPITALS_SHARE:
        return []
    return [
        term
        for word, is_first in _words(question)
        if not is_first and word[0].isupper() and word.casefold() not in STOP_WORDS
        for term in extract_terms(word)
        if len(term) > 1
    ]


def _capitals_share(text: str) -> float:
    inner = [word for word, is_first in _words(text) if not is_first]
    return sum(word[0].isupper() for word in inner) / len(inner) if inner else 0.0


def _words(text: str) -> list[tuple[str, bool]]:
    """Return each word and whether it starts a sentence."""
    return [
        (match[0], _SENTENCE_START.search(text, 0, match.start()) is not None)
        for match in _WORD.finditer(text)
    ]
