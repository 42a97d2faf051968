"""Where the row that was read last begins in its file, for messages about it."""


class Place:
    line: int | None = None
    """Counted from 1; None where a file has no lines to speak of."""


PLACE = Place()
