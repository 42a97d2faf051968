"""The words of a text, and how they stand in the index.

A word stands there under a digest of its base and itself. So the rows of other bases are never touched by a
search, however common the word is, and there is nothing in a query that a database could take for a command.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterable

MOST_QUERY_TERMS = 16

_LONGEST = 64
# Parts of a code stay together as well as apart: "AX-4410/B" is found by "ax4410b" and by "4410".
_COMPOUND = re.compile(r"\w+(?:[-./_:#+]\w+)*")
_WORD = re.compile(r"[^\W_]+")
# Scripts that put no blanks between words: two neighbouring characters stand for a word.
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]+")
_LETTERS = str.maketrans("0123456789", "ghijklmnop")

_STOP_WORDS = (
    "a about after all also am an and any are as at be because been before being between both but by can "
    "could did do does doing don done down during each for from get give had has have having he her here "
    "him his how i if in into is it its just let like many may me might more most much must my no nor not "
    "now of off on once one only or other our out over own please same she should so some such tell than "
    "that the their them then there these they this those through to too under until up us very was we "
    "were what when where which while who whom whose why will with would you your "
    "der die das und oder ist sind war ein eine einen einem einer nicht mit von zu im in den dem des auf "
    "für wie was wer wo wann warum le la les un une des et ou est sont dans pour avec que qui el los las "
    "una es son por para con como del"
)
STOP_WORDS = frozenset(_STOP_WORDS.split())


def terms_of(text: str) -> dict[str, None]:
    """The distinct words of a text, in the order they first appear."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    found: dict[str, None] = {}
    for chunk in dict.fromkeys(folded.split()):
        if chunk.isascii() and chunk.isalnum():
            found[chunk[:_LONGEST]] = None
            continue
        for compound in _COMPOUND.findall(chunk):
            parts = _WORD.findall(compound)
            for part in (*parts, "".join(parts)) if len(parts) > 1 else parts:
                for word in _spaced(part):
                    found[word[:_LONGEST]] = None
    return found


def _spaced(word: str) -> Iterable[str]:
    if word.isascii():
        return (word,)
    words: list[str] = []
    at = 0
    for run in _UNSPACED.finditer(word):
        words += [word[at : run.start()]] if run.start() > at else []
        pairs = [run[0][place : place + 2] for place in range(len(run[0]) - 1)]
        words += pairs or [run[0]]
        at = run.end()
    return [*words, word[at:]] if at < len(word) else words


def query_terms(text: str) -> list[str]:
    """What a question is searched by: its words but for those that every text has."""
    meaningful = [word for word in terms_of(text) if word not in STOP_WORDS]
    return meaningful[:MOST_QUERY_TERMS]


def indexed(base_id: str, word: str) -> str:
    """A word as it stands in the index: letters alone, the same for the same base."""
    return hashlib.blake2b(f"{base_id}:{word}".encode(), digest_size=6).hexdigest().translate(_LETTERS)


def indexed_text(base_id: str, text: str) -> str:
    """The words of a chunk, as a row of the index."""
    words = (word for word in terms_of(text) if word not in STOP_WORDS)
    return " ".join(indexed(base_id, word) for word in words)
