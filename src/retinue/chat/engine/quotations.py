"""Answers of the built-in chat model from an agent's documents: quoted sentences, no generated text.

The model is too small to answer from a passage, while search nearly always finds the right one. The sentences
that answer are therefore quoted with their source; scores decide whether there are any
(`knowledge.extracts`).
"""

import re
from collections.abc import Iterator, Sequence

import msgspec

from retinue.adapters.llm import ModelMessage
from retinue.agents.models import Agent
from retinue.kit.context import Context
from retinue.knowledge import retrieval
from retinue.knowledge.extracts import Extracts, extract
from retinue.knowledge.retrieval import Passage
from retinue.knowledge.word_overlap import content_words, is_same_word
from retinue.usage.model_call import SpendingHold

_MAX_QUOTE_LENGTH = 600
# A question with more content words than this is not a follow-up of the previous one.
_MAX_FOLLOW_UP_WORDS = 4
_MAX_SMALL_TALK_WORDS = 5
_PIECE = re.compile(r"\s*\S+\s*$|\s*\S+")

_NOT_READ_YET = "The documents are still being read. Ask again when the training is completed."
_NOT_ANSWERED = {
    "en": "The documents do not answer this question.",
    "de": "Die Dokumente beantworten diese Frage nicht.",
    "fr": "Les documents ne répondent pas à cette question.",
    "es": "Los documentos no responden a esta pregunta.",
    "it": "I documenti non rispondono a questa domanda.",
}
_LANGUAGE_MARKER_WORDS = {
    "de": "der die das und ist sind ein eine wie wo wann wer was warum darf ich kann nicht mit für auf gibt",
    "fr": "le la les un une est sont que quel quelle comment où quand combien pour avec puis je pas des du",
    "es": "el los las un una es son que qué cuál cómo dónde cuándo cuánto puedo para con por hay no mi",
    "it": "il lo gli una è sono che quale come dove quando quanto posso per con non mio ci della",
}
_SMALL_TALK_WORDS = (
    "hello hi hey hiya greetings good morning afternoon evening night bye goodbye thanks thank thx cheers ok "
    "okay great nice cool welcome there you very much so day "
    "hallo moin servus guten tag morgen abend danke vielen dank tschüss bitte schön "
    "bonjour salut bonsoir merci beaucoup au revoir "
    "hola buenos buenas días tardes noches gracias muchas adiós "
    "ciao salve buongiorno buonasera grazie mille arrivederci"
)
_SMALL_TALK = frozenset(_SMALL_TALK_WORDS.split())


class Quotation(msgspec.Struct, frozen=True):
    """A reply quoted from `passages`; none if the documents do not answer the question."""

    text: str
    passages: tuple[Passage, ...] = ()
    tokens: int = 0


class QuotationFinder:
    """Finds sentences in an agent's documents that answer one message."""

    def __init__(
        self,
        ctx: Context,
        agent: Agent,
        message: str,
        history: Sequence[ModelMessage],
        passages: Sequence[Passage],
        hold: SpendingHold,
    ) -> None:
        self._ctx = ctx
        self._hold = hold
        self._base_id = agent.knowledge_base_id
        self._message = message
        self._history = history
        self._passages = passages

    @property
    def is_question(self) -> bool:
        """True if the message asks for something; greetings and thanks are left to the model."""
        return self._base_id is not None and not _is_small_talk(self._message)

    async def find(self) -> Quotation | None:
        """Return the reply; None if there is nothing to quote from."""
        if self._base_id is None:
            return None
        if not self._passages and not await retrieval.is_searchable(self._ctx, self._base_id):
            is_being_read = await retrieval.is_indexing(self._ctx, self._base_id)
            return Quotation(_NOT_READ_YET) if is_being_read else None
        extracts = await extract(self._ctx, self._message, self._passages)
        if extracts.sentences:
            return _build_quotation(extracts, self._passages)
        followed = await self._find_for_follow_up(extracts.tokens)
        if followed is not None:
            return followed
        return Quotation(_NOT_ANSWERED[_language(self._message)], tokens=extracts.tokens)

    async def _find_for_follow_up(self, tokens: int) -> Quotation | None:
        """Combine a short question with the one before it ("And on Sundays?")."""
        own_words = content_words(self._message)
        previous_question = next((item.text() for item in reversed(self._history) if item.role == "user"), "")
        if not previous_question or len(own_words) > _MAX_FOLLOW_UP_WORDS:
            return None
        combined = f"{previous_question} {self._message}"
        passages = (await retrieval.search(self._ctx, self._base_id, combined, hold=self._hold)).passages
        extracts = await extract(self._ctx, combined, passages)
        # Without a word of the follow-up, it would answer the previous question again.
        sentences = tuple(item for item in extracts.sentences if _mentions(item.text, own_words))
        if not sentences:
            return None
        return _build_quotation(Extracts(sentences, tokens + extracts.tokens), passages)


def split_words(text: str) -> Iterator[str]:
    """Yield the text word by word, as a streaming model would."""
    yield from _PIECE.findall(text)


def truncate(text: str, max_characters: int, stop: Sequence[str]) -> tuple[str, bool]:
    """Return the text up to the first stop sequence and the limit, and whether it exceeded the limit."""
    for mark in stop:
        text = text.partition(mark)[0] if mark else text
    return text[:max_characters], len(text) > max_characters


def _build_quotation(extracts: Extracts, passages: Sequence[Passage]) -> Quotation:
    """Return each sentence in quotation marks with the number of its source, then the sources."""
    cited = list(dict.fromkeys(sentence.passage for sentence in extracts.sentences))
    lines = [
        f"“{_truncate_quote(sentence.text)}” [{cited.index(sentence.passage) + 1}]"
        for sentence in extracts.sentences
    ]
    sources = [f"[{number}] {_origin(passages[place])}" for number, place in enumerate(cited, 1)]
    text = "\n".join(lines) + "\n\n" + "\n".join(sources)
    return Quotation(text, tuple(passages[place] for place in cited), extracts.tokens)


def _origin(passage: Passage) -> str:
    page = f", page {passage.page}" if passage.page is not None else ""
    heading = f", {passage.heading}" if passage.heading and passage.page is None else ""
    return f"{passage.document_name}{page}{heading}"


def _truncate_quote(text: str) -> str:
    return text if len(text) <= _MAX_QUOTE_LENGTH else f"{text[:_MAX_QUOTE_LENGTH].rstrip()}…"


def _mentions(sentence: str, words: Sequence[str]) -> bool:
    """Return whether a sentence contains one of the words, or True if there are none."""
    sentence_words = content_words(sentence)
    return not words or any(is_same_word(word, other) for word in words for other in sentence_words)


def _is_small_talk(message: str) -> bool:
    words = re.findall(r"[^\W\d_]+", message.casefold())
    return not words or (len(words) <= _MAX_SMALL_TALK_WORDS and all(word in _SMALL_TALK for word in words))


def _language(message: str) -> str:
    """Return the language with the most marker words in the message; English below two."""
    words = set(re.findall(r"[^\W\d_]+", message.casefold()))
    counts = {
        language: len(words & set(marker_words.split()))
        for language, marker_words in _LANGUAGE_MARKER_WORDS.items()
    }
    best = max(counts, key=lambda language: counts[language])
    return best if counts[best] >= 2 else "en"
