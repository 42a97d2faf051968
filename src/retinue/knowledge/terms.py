"""The words of a text, and their form in the word index.

A word is stored as a digest of its base and itself. A search therefore never touches rows of other bases,
however common the word, and a query contains nothing a database could take for a command.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterable

MAX_QUERY_TERMS = 16

_MAX_TERM_LENGTH = 64
# Codes are indexed joined and in parts: "AX-4410/B" is found by "ax4410b" and by "4410".
_COMPOUND = re.compile(r"\w+(?:[-./_:#+]\w+)*")
_WORD = re.compile(r"[^\W_]+")
# Scripts without spaces between words: each pair of neighbouring characters counts as a word.
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]+")
_DIGITS_TO_LETTERS = str.maketrans("0123456789", "ghijklmnop")

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


def extract_terms(text: str) -> dict[str, None]:
    """Return the distinct words of a text in order of appearance."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    terms: dict[str, None] = {}
    for chunk in dict.fromkeys(folded.split()):
        if chunk.isascii() and chunk.isalnum():
            terms[chunk[:_MAX_TERM_LENGTH]] = None
            continue
        for compound in _COMPOUND.findall(chunk):
            parts = _WORD.findall(compound)
            for part in (*parts, "".join(parts)) if len(parts) > 1 else parts:
                for word in _split_unspaced(part):
                    terms[word[:_MAX_TERM_LENGTH]] = None
    return terms


def _split_unspaced(word: str) -> Iterable[str]:
    if word.isascii():
        return (word,)
    words: list[str] = []
    position = 0
    for run in _UNSPACED.finditer(word):
        words += [word[position : run.start()]] if run.start() > position else []
        pairs = [run[0][place : place + 2] for place in range(len(run[0]) - 1)]
        words += pairs or [run[0]]
        position = run.end()
    return [*words, word[position:]] if position < len(word) else words


def query_terms(text: str) -> list[str]:
    """Return the words a question is searched by, without stop words."""
    meaningful = [word for word in extract_terms(text) if word not in STOP_WORDS]
    return meaningful[:MAX_QUERY_TERMS]


def shared_terms(question: str, text: str) -> list[str]:
    """Return the words a question is searched by that the text contains."""
    present = extract_terms(text)
    return [word for word in query_terms(question) if word in present]


def hash_term(base_id: str, word: str) -> str:
    """Return the form of a word in the index: letters only, specific to the base."""
    return (
        hashlib.blake2b(f"{base_id}:{word}".encode(), digest_size=6).hexdigest().translate(_DIGITS_TO_LETTERS)
    )


def hash_terms(base_id: str, text: str) -> str:
    """Return the words of a chunk as a row of the index."""
    words = (word for word in extract_terms(text) if word not in STOP_WORDS)
    return " ".join(hash_term(base_id, word) for word in words)
