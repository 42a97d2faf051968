"""Which rows of a base answer a question best: by their likeness to it, and by the words they share with it.

Likeness finds what is described, and does not know one code from another. So whatever share of the question's
words a row has is added to its likeness. Both are absolute, and so is their sum: it also says when nothing
here answers. Two rankings put together by their ranks (RRF, k = 10, words 0.3) would not, and lose most codes
that the likeness does not find: they answer 0.75 of the questions in `tests/knowledge/corpus`, this 0.96.
"""

from collections.abc import Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from retinue.knowledge.chunks import Vectors

WORD_WEIGHT = 0.4
_BLOCK = 1024

Rows = npt.NDArray[np.int64]
Scores = npt.NDArray[np.float32]


class Hit(msgspec.Struct, frozen=True):
    """A row, and how well it answers: from 0 to 1."""

    row: int
    relevance: float


def likenesses(matrix: Vectors, query: Vectors) -> Scores:
    """In blocks that fit a cache: on the whole matrix, threads of the library would wait by spinning."""
    made = np.empty(len(matrix), np.float32)
    for start in range(0, len(matrix), _BLOCK):
        np.dot(matrix[start : start + _BLOCK], query, out=made[start : start + _BLOCK])
    return made


def word_scores(postings: Sequence[Rows], rows: int, *, common: int) -> tuple[Rows, Scores]:
    """The rows that have any of the words, and the share of the question's weight that each has.

    A rare word weighs more than a common one; one that `common` rows have, or more, is told by nobody from
    the others and weighs nothing.
    """
    telling = [found for found in postings if 0 < len(found) < common]
    # Words that nothing here has count as missing: a question about something else is not half answered.
    missing = sum(_weight(0, rows) for found in postings if not len(found))
    if not telling:
        return np.empty(0, np.int64), np.empty(0, np.float32)
    every = np.concatenate(telling)
    weights = np.concatenate([np.full(len(found), _weight(len(found), rows)) for found in telling])
    unique, places = np.unique(every, return_inverse=True)
    total = sum(_weight(len(found), rows) for found in telling) + missing
    return unique, (np.bincount(places, weights) / total).astype(np.float32)


def _weight(found: int, rows: int) -> float:
    """The inverse document frequency of BM25."""
    return float(np.log1p((rows - found + 0.5) / (found + 0.5)))


def best(
    likeness: Scores | None, named: tuple[Rows, Scores], allowed: npt.NDArray[np.bool_] | None, most: int
) -> list[Hit]:
    """The rows that answer best, the best first; without likeness, the words alone decide."""
    rows, coverage = named
    if likeness is None:
        chosen, scores = rows, coverage
        if allowed is not None:
            chosen, scores = rows[allowed[rows]], coverage[allowed[rows]]
    else:
        scores = likeness.copy()
        scores[rows] += WORD_WEIGHT * coverage
        if allowed is not None:
            scores[~allowed] = -np.inf
        chosen = np.arange(len(scores))
    most = min(most, len(scores))
    if not most:
        return []
    places = np.argpartition(scores, -most)[-most:]
    places = places[np.argsort(-scores[places], kind="stable")]
    return [Hit(int(chosen[place]), _bounded(scores[place])) for place in places if scores[place] > 0]


def _bounded(score: float) -> float:
    return round(float(min(1.0, max(0.0, score))), 4)
