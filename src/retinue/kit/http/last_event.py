"""The header by which a client says where its stream broke off."""

from retinue.kit.errors import Invalid
from retinue.kit.http.request import Request

_MAX_DIGITS = 18


def read_last_event_id(request: Request) -> int | None:
    """Return the number of the last event that the client received, or None if it begins."""
    given = request.header(b"last-event-id")
    if not given:
        return None
    if not given.isascii() or not given.isdigit() or len(given) > _MAX_DIGITS:
        raise Invalid({"Last-Event-ID": "must be the id of an event"})
    return int(given)
