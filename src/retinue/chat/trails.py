"""The order of what was streamed, kept for those who come back (see `streaming`)."""

from retinue.chat.words import Part, Said, ToolBegan, ToolDone

PAUSED = "s"


class Trail:
    """Goes on with the steps of a reply that had stopped; that it said so was an event of its own."""

    def __init__(self, steps: list[int | str], length: int) -> None:
        self.steps = [*steps, PAUSED]
        self._length = length

    def hear(self, part: Part) -> None:
        if isinstance(part, Said):
            self._length += len(part.text)
            self.steps.append(self._length)
        elif isinstance(part, ToolBegan):
            self.steps.append(f"{'B' if part.is_inner else 'b'}{part.id}")
        elif isinstance(part, ToolDone):
            self.steps.append("D" if part.is_inner else "d")
