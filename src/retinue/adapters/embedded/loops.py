"""A small model that begins to say the same again and again never stops by itself."""

_SIGN = 40
_FEWEST_TIMES = 3
_FEWEST_CHARACTERS = 200


def repeats_itself(text: str) -> bool:
    """Whether a text ends in the same words, three times in a row or more."""
    end = text[-_SIGN:]
    earlier = text.rfind(end, 0, len(text) - 1)
    if len(end) < _SIGN or earlier < 0:
        return False
    period = len(text) - _SIGN - earlier
    times = max(_FEWEST_TIMES, -(-_FEWEST_CHARACTERS // period))
    return text.endswith(text[-period:] * times)


class Listener:
    """Hears a text piece by piece, and notices when it goes round in circles."""

    def __init__(self) -> None:
        self._text = ""
        self._looked_at = 0
        self.pieces = 0

    def is_tired_of(self, piece: str) -> bool:
        self.pieces += 1
        self._text += piece
        if len(self._text) - self._looked_at < _SIGN:
            return False
        self._looked_at = len(self._text)
        return repeats_itself(self._text)
