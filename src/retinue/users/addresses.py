"""The mail addresses of people: the one form in which they are kept, and whether mail can be sent there."""

from retinue.adapters.mail.message import recipient
from retinue.kit.errors import Invalid


def kept_form(email: str) -> str:
    """As addresses are stored and compared: one person is not two by a capital letter."""
    return email.strip().lower()


def check_address(email: str, field: str = "email") -> None:
    """Refuse what looks like an address but cannot be mailed to."""
    try:
        recipient(email)
    except Invalid:
        raise Invalid({field: "must be one mail address"}) from None
