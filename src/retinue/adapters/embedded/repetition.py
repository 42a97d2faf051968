"""Detection of repetition: a small model that begins to repeat itself never stops on its own."""

_SAMPLE_LENGTH = 40
_MIN_REPETITIONS = 3
_MIN_REPEATED_CHARACTERS = 200
_SENTENCE_ENDS = (".", "!", "?", "…", ":", "。")
_MIN_REPEATED_LENGTH = 16


def repeats_itself(text: str) -> bool:
    """Return whether a text ends with the same words at least three times in a row."""
    end = text[-_SAMPLE_LENGTH:]
    earlier = text.rfind(end, 0, len(text) - 1)
    if len(end) < _SAMPLE_LENGTH or earlier < 0:
        return False
    period = len(text) - _SAMPLE_LENGTH - earlier
    times = max(_MIN_REPETITIONS, -(-_MIN_REPEATED_CHARACTERS // period))
    return text.endswith(text[-period:] * times)


class RepetitionDetector:
    """Reads a text piece by piece and detects when it repeats itself or gets too long.

    With `brief_tokens` it also stops after a repeated sentence, and after the first sentence beyond three
    quarters of that limit, so that a short answer ends at the end of a sentence.
    """

    def __init__(self, brief_tokens: int = 0) -> None:
        self._text = ""
        self._checked_length = 0
        self._brief_tokens = brief_tokens
        self._sentence = ""
        self._seen_sentences: set[str] = set()
        self.pieces = 0

    def should_stop_after(self, piece: str) -> bool:
        self.pieces += 1
        self._text += piece
        if self._brief_tokens and self._may_end_here(piece):
            return True
        if len(self._text) - self._checked_length < _SAMPLE_LENGTH:
            return False
        self._checked_length = len(self._text)
        return repeats_itself(self._text)

    @property
    def is_within_sentence(self) -> bool:
        return bool(self._text.strip()) and not self._text.rstrip().endswith(_SENTENCE_ENDS)

    def _may_end_here(self, piece: str) -> bool:
        """Return whether a sentence ends here that is a repetition or close enough to the limit."""
        self._sentence += piece
        if not self._sentence.rstrip().endswith(_SENTENCE_ENDS):
            return False
        sentence = " ".join(self._sentence.casefold().split())
        self._sentence = ""
        is_repeated = sentence in self._seen_sentences and len(sentence) >= _MIN_REPEATED_LENGTH
        self._seen_sentences.add(sentence)
        return is_repeated or self.pieces >= self._brief_tokens * 3 // 4
