"""The text of a reply while it grows."""

from collections.abc import Iterable

from retinue.chat.engine.budget import MAX_REPLY_CHARACTERS
from retinue.chat.engine.parts import ReplyText, TextWithdrawn
from retinue.chat.engine.sanitizer import sanitize_text

_FENCE = "```"


class ReplyBuilder:
    """Collects the text of a reply; that of a new round of the model starts a new paragraph."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self.length = 0
        self._is_new_paragraph = False

    def restore(self, text: str) -> None:
        """Continue the reply of a suspended turn."""
        self._pieces, self.length = [text] if text else [], len(text)

    def __bool__(self) -> bool:
        return bool(self._pieces)

    @property
    def text(self) -> str:
        return "".join(self._pieces)

    @property
    def written(self) -> int:
        """The number of characters that the model has written."""
        return self.length

    @property
    def is_full(self) -> bool:
        return self.written >= MAX_REPLY_CHARACTERS

    def start_round(self) -> int:
        """Start a new paragraph if there is text already; return the length so far."""
        self._is_new_paragraph = bool(self._pieces)
        return self.length

    def append(self, text: str) -> ReplyText | None:
        """Append a piece of the model's text; return what is to be passed on."""
        text = sanitize_text(text)
        if not text:
            return None
        if self._is_new_paragraph:
            self._is_new_paragraph = False
            text = f"\n\n{text}"
        text = text[: MAX_REPLY_CHARACTERS - self.length]
        self.length += len(text)
        self._pieces.append(text)
        return ReplyText(text)

    def end_round_with_calls(self) -> Iterable[ReplyText | TextWithdrawn]:
        """End a round that asks for calls; return what is to be passed on because of it."""
        return ()


class JsonReplyBuilder(ReplyBuilder):
    """Collects a reply that is to be one JSON object: that of the last round.

    Text that cannot be such an object is held back until its round ends, so that a stream does not show what
    a model says before its calls, around its answer, or instead of it.
    """

    def __init__(self) -> None:
        super().__init__()
        self._held: list[str] = []
        self._held_length = 0
        self._start = 0
        self._has_begun = False

    @property
    def written(self) -> int:
        return self.length + self._held_length

    def start_round(self) -> int:
        self._reset_round()
        self._start = self.length
        return self.length

    def _reset_round(self, *, has_begun: bool = False) -> None:
        self._held, self._held_length, self._has_begun = [], 0, has_begun

    def append(self, text: str) -> ReplyText | None:
        if self._has_begun:
            return super().append(text)
        text = sanitize_text(text)
        if not self._held:
            text = text.lstrip()
        if text.startswith("{") and not self._held:
            self._has_begun = True
            return super().append(text)
        if text:
            self._held.append(text)
            self._held_length += len(text)
        return None

    def answer(self) -> str:
        """Return the model's answer of this round, without a code fence around it."""
        return self.text[self._start :] if self._has_begun else _without_fence("".join(self._held).strip())

    def accept(self) -> ReplyText | None:
        """Make the answer the reply; return it if it was held back."""
        if self._has_begun:
            return None
        answer = self.answer()
        self._reset_round(has_begun=True)
        return super().append(answer)

    def withdraw(self) -> Iterable[ReplyText | TextWithdrawn]:
        """Drop the text of this round; what follows it in a stream stands apart from it."""
        self._reset_round()
        if not self:
            return ()
        separator = super().append("\n\n")
        withdrawn = TextWithdrawn(self.text)
        self._pieces, self.length = [], 0
        return (separator, withdrawn) if separator is not None else (withdrawn,)

    def end_round_with_calls(self) -> Iterable[ReplyText | TextWithdrawn]:
        return self.withdraw()


def _without_fence(text: str) -> str:
    if not (text.startswith(_FENCE) and text.endswith(_FENCE) and "\n" in text):
        return text
    return text.removesuffix(_FENCE).partition("\n")[2].strip()
