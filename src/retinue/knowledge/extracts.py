"""Selection of the sentences that answer a question, or none: by scores, without generating text.

A sentence is scored by its similarity to the question (vectors of the embedded model, with and without its
headings) and by the words of the question it contains or paraphrases. It needs both: sentences on the same
subject are similar without answering, and shared words alone are chance. The thresholds were chosen on
`tests/knowledge/quotable`, where a second set of questions verifies them.
"""

from collections.abc import Iterable, Sequence

import msgspec
import numpy as np
import structlog

from retinue.kit.context import Context
from retinue.kit.errors import RetinueError
from retinue.kit.extras import is_installed
from retinue.knowledge import word_overlap
from retinue.knowledge.chunks import Vectors
from retinue.knowledge.embedding import EMBEDDED_MODEL
from retinue.knowledge.retrieval import Passage
from retinue.knowledge.sentences import sentences_of
from retinue.knowledge.word_overlap import WeightedQuestion, content_words
from retinue.providers import model_calls
from retinue.usage.model_call import FreeCall

log = structlog.get_logger("retinue.knowledge")

MAX_EXTRACTS = 3
# Limits on the number of texts embedded in one turn.
_MAX_PASSAGES = 3
_MAX_SENTENCES = 32
_MAX_COMPARED_WORDS = 60
_MAX_COMPARED_SENTENCES = 5
_MAX_QUESTION_LENGTH = 1_000
# Passages far below the best one only add cost.
_MIN_SHARE_OF_BEST_PASSAGE = 0.6

# Weight of a sentence's own similarity, as opposed to that of its best variant.
_ALONE_WEIGHT = 0.15
_MEANING_WEIGHT, _WORD_WEIGHT = 0.2, 0.1
_MIN_SIMILARITY = 0.41
_MIN_SCORE = 0.57
_MIN_COVERAGE_WITHOUT_VECTORS = 0.6
# Sentences within this margin of the best one are quoted with it.
_SCORE_MARGIN = 0.06
_NO_NUMBER_PENALTY = 0.3
_UNKNOWN_NAME_PENALTY = 0.3
_TITLE_PENALTY = 0.2
_MAX_TITLE_WORDS = 6


class Extract(msgspec.Struct, frozen=True):
    """A sentence; `passage` is the position of its passage in the list."""

    text: str
    passage: int
    score: float


class Extracts(msgspec.Struct, frozen=True):
    """The sentences that answer, best first, and the tokens used to find them."""

    sentences: tuple[Extract, ...] = ()
    tokens: int = 0


class _Candidate(msgspec.Struct):
    text: str
    passage: int
    variants: list[str]
    words: list[str]
    similarity: float | None = None
    # Shares of the question's words that are contained, and contained or paraphrased.
    exact_coverage: float = 0.0
    loose_coverage: float = 0.0


async def extract(ctx: Context, question: str, passages: Sequence[Passage]) -> Extracts:
    """Return the sentences that answer; no transaction may be open during the embedding."""
    candidates = _candidates(passages)
    if not candidates:
        return Extracts()
    asked = WeightedQuestion(question[:_MAX_QUESTION_LENGTH], [candidate.words for candidate in candidates])
    vectors = _Embedder(ctx)
    await vectors.embed_missing(
        [asked.text, *(form for candidate in candidates for form in candidate.variants)]
    )
    for candidate in candidates:
        candidate.exact_coverage = candidate.loose_coverage = asked.coverage(candidate.words)
        candidate.similarity = vectors.best_similarity(asked.text, candidate.variants)
    candidates.sort(key=_score, reverse=True)
    closest = candidates[:_MAX_COMPARED_SENTENCES]
    await vectors.embed_missing(_compared_words(asked, closest))
    for candidate in closest:
        candidate.loose_coverage = asked.coverage(candidate.words, vectors.similarity)
    penalty = _UNKNOWN_NAME_PENALTY if _has_unknown_name(asked.text, passages) else 0.0
    return Extracts(_select(asked, closest, penalty), vectors.tokens)


def _candidates(passages: Sequence[Passage]) -> list[_Candidate]:
    candidates = []
    for position, passage in enumerate(passages[:_MAX_PASSAGES]):
        if passage.score < _MIN_SHARE_OF_BEST_PASSAGE * passages[0].score:
            continue
        path = passage.heading or ""
        for sentence in sentences_of(passage.text):
            headings = " > ".join(heading for heading in (path, sentence.heading) if heading)
            variants = [sentence.text]
            if headings:
                variants.append(f"{headings}: {sentence.text}")
            if subject := _subject(sentence.text):
                variants.append(subject)
            candidates.append(
                _Candidate(sentence.text, position, variants, content_words(f"{headings} {sentence.text}"))
            )
    return candidates[:_MAX_SENTENCES]


def _score(candidate: _Candidate) -> float:
    if candidate.similarity is None:
        return candidate.exact_coverage
    return (
        candidate.similarity
        + _MEANING_WEIGHT * candidate.loose_coverage
        + _WORD_WEIGHT * candidate.exact_coverage
    )


def _compared_words(asked: WeightedQuestion, candidates: Iterable[_Candidate]) -> list[str]:
    """Return the question's words some sentence lacks, and the sentence words that may paraphrase them."""
    lacking: dict[str, None] = {}
    others: dict[str, None] = {}
    for candidate in candidates:
        if missing := asked.missing(candidate.words):
            lacking |= dict.fromkeys(missing)
            others |= dict.fromkeys(candidate.words)
    return [*lacking, *others][:_MAX_COMPARED_WORDS]


def _has_unknown_name(question: str, passages: Sequence[Passage]) -> bool:
    """Return whether the question names something that no passage mentions."""
    names = word_overlap.names_in(question, "\n".join(passage.text for passage in passages))
    if not names:
        return False
    passages_text = "\n".join(
        f"{passage.document_name} {passage.heading or ''} {passage.text}" for passage in passages
    )
    words = content_words(passages_text)
    return any(not any(word_overlap.is_same_word(name, word) for word in words) for name in names)


def _subject(text: str) -> str:
    """Return the first cell of a table row, whose meaning is lost among the other cells."""
    first, *others = text.split("; ")
    return first.partition(": ")[2] if len(others) >= 2 and all(": " in cell for cell in others) else ""


def _select(asked: WeightedQuestion, candidates: Sequence[_Candidate], penalty: float) -> tuple[Extract, ...]:
    """Return the sentences that answer, best first; no sentence is better than an unrelated one."""
    answering = []
    for candidate in candidates:
        score = _score(candidate) - penalty
        score -= _NO_NUMBER_PENALTY if asked.lacks_number(candidate.text) else 0.0
        score -= _TITLE_PENALTY if _is_title(candidate.text) else 0.0
        if candidate.similarity is None:
            is_answer = score >= _MIN_COVERAGE_WITHOUT_VECTORS
        else:
            # A matching code counts, however dissimilar the rest is.
            is_meant = candidate.similarity >= _MIN_SIMILARITY or asked.shares_code_with(candidate.words)
            is_answer = score >= _MIN_SCORE and is_meant
        if is_answer:
            answering.append(Extract(candidate.text, candidate.passage, round(score, 4)))
    answering.sort(key=lambda extract: extract.score, reverse=True)
    distinct = {
        chosen.text: chosen
        for chosen in reversed(answering)
        if chosen.score >= answering[0].score - _SCORE_MARGIN
    }
    return tuple(reversed(distinct.values()))[:MAX_EXTRACTS]


def _is_title(text: str) -> bool:
    has_mark = any(mark in text for mark in ".!?:;\u3002\uff01\uff1f") or any(map(str.isdigit, text))
    return not has_mark and len(text.split()) <= _MAX_TITLE_WORDS


class _Embedder:
    """Vectors for the texts of one question; empty if the embedded model fails."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._vectors: dict[str, Vectors] = {}
        self.tokens = 0

    async def embed_missing(self, texts: Iterable[str]) -> None:
        unknown = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        if not unknown or not is_installed("local"):
            return
        try:
            embeddings = await model_calls.embed(self._ctx, EMBEDDED_MODEL, unknown, hold=FreeCall())
        except RetinueError as error:
            log.warning("sentences_not_embedded", model=EMBEDDED_MODEL, error=error.message)
            return
        self._vectors |= zip(unknown, np.asarray(embeddings.vectors, np.float32), strict=True)
        self.tokens += embeddings.usage.prompt_tokens if embeddings.usage is not None else 0

    def similarity(self, text: str, other: str) -> float:
        first, second = self._vectors.get(text), self._vectors.get(other)
        return float(first @ second) if first is not None and second is not None else 0.0

    def best_similarity(self, question: str, variants: Sequence[str]) -> float | None:
        """Return the similarity of a sentence, alone and in its best variant; None without vectors."""
        if question not in self._vectors:
            return None
        similarities = [self.similarity(question, form) for form in variants]
        return _ALONE_WEIGHT * similarities[0] + (1 - _ALONE_WEIGHT) * max(similarities)
