"""Ranking of a base's rows: by similarity to the question and by shared words (ADR 12).

Similarity finds descriptions but cannot tell one code from another, so the share of the question's words that
a row contains is added to its similarity. Both are absolute, so their sum also shows when nothing answers.
Combining two rankings by rank (RRF, k = 10, words 0.3) would not, and would miss most codes: it answers 0.75
of the questions in `tests/knowledge/corpus`, this answers 0.96.
"""

from collections.abc import Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from retinue.knowledge.chunks import Vectors

WORD_WEIGHT = 0.4
_BLOCK_ROWS = 1024

Rows = npt.NDArray[np.int64]
Scores = npt.NDArray[np.float32]


class Hit(msgspec.Struct, frozen=True):
    """A row and its relevance, from 0 to 1, with the two parts that it is the sum of.

    `similarity` is None if the question has no vector; `coverage` is the weighted share of its words.
    """

    row: int
    relevance: float
    similarity: float | None = None
    coverage: float = 0.0


def similarities(matrix: Vectors, query: Vectors) -> Scores:
    """Compute in blocks that fit the cache; on the whole matrix, BLAS threads would busy-wait."""
    scores = np.empty(len(matrix), np.float32)
    for start in range(0, len(matrix), _BLOCK_ROWS):
        np.dot(matrix[start : start + _BLOCK_ROWS], query, out=scores[start : start + _BLOCK_ROWS])
    return scores


def word_scores(postings: Sequence[Rows], rows: int, *, common: int) -> tuple[Rows, Scores]:
    """Return the rows that contain any of the words, and the weighted share each contains.

    Rare words weigh more than common ones; a word that `common` or more rows contain distinguishes nothing
    and weighs nothing.
    """
    distinctive = [rows_of_word for rows_of_word in postings if 0 < len(rows_of_word) < common]
    # Words without any row count as missing: a question about something else is not half answered.
    missing = sum(_weight(0, rows) for rows_of_word in postings if not len(rows_of_word))
    if not distinctive:
        return np.empty(0, np.int64), np.empty(0, np.float32)
    all_rows = np.concatenate(distinctive)
    weights = np.concatenate(
        [np.full(len(rows_of_word), _weight(len(rows_of_word), rows)) for rows_of_word in distinctive]
    )
    unique, places = np.unique(all_rows, return_inverse=True)
    total = sum(_weight(len(rows_of_word), rows) for rows_of_word in distinctive) + missing
    return unique, (np.bincount(places, weights) / total).astype(np.float32)


def _weight(matches: int, rows: int) -> float:
    """Return the inverse document frequency of BM25."""
    return float(np.log1p((rows - matches + 0.5) / (matches + 0.5)))


def best_hits(
    similarity: Scores | None,
    word_matches: tuple[Rows, Scores],
    allowed: npt.NDArray[np.bool_] | None,
    limit: int,
) -> list[Hit]:
    """Return the most relevant rows, best first; by words alone without `similarity`."""
    rows, coverage = word_matches
    if similarity is None:
        chosen, scores = rows, coverage
        if allowed is not None:
            chosen, scores = rows[allowed[rows]], coverage[allowed[rows]]
    else:
        scores = similarity.copy()
        scores[rows] += WORD_WEIGHT * coverage
        if allowed is not None:
            scores[~allowed] = -np.inf
        chosen = np.arange(len(scores))
    limit = min(limit, len(scores))
    if not limit:
        return []
    places = np.argpartition(scores, -limit)[-limit:]
    places = places[np.argsort(-scores[places], kind="stable")]
    share_of = dict(zip(rows.tolist(), coverage.tolist(), strict=True))
    return [
        Hit(
            row := int(chosen[place]),
            _bounded(scores[place]),
            None if similarity is None else _bounded(similarity[row]),
            _bounded(share_of.get(row, 0.0)),
        )
        for place in places
        if scores[place] > 0
    ]


def _bounded(score: float) -> float:
    return round(float(min(1.0, max(0.0, score))), 4)
