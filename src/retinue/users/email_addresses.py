"""Normalization and validation of email addresses.

People identify others by the address they read. Addresses that can be mistaken for another one are refused:
hidden characters, text that changes direction, letters of several scripts in one name (UTS 39).
"""

import re
import unicodedata

from retinue.adapters.mail.message import parse_recipient
from retinue.kit.errors import Invalid
from retinue.kit.text.unicode_scripts import has_mixed_digits, is_single_script

_NOT_AN_ADDRESS = "must be a single email address"
_HIDDEN = "must not contain invisible characters or characters that change the direction of the text"
_MIXED = "must not mix letters or digits of several scripts, such as Latin and Cyrillic"

_LOCAL_PART = re.compile(r'[^\s@\x00-\x1f<>(),;:\\"\[\]]{1,64}')
_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp", "Zs"})
# Default_Ignorable_Code_Point beyond these categories, and the blank of the Braille patterns.
_HIDDEN_OTHERS = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0]")
_HIDDEN_SUPPLEMENT = range(0xE0000, 0xE1000)
# A combining dot is invisible on letters that already have one, and stacked marks hide one another.
_HIDDEN_MARKS = re.compile("[ijl\u0131\u0237]\u0307")
_MAX_MARKS_IN_A_ROW = 4
_ENCODED_LABEL = "xn--"


def normalize_email(email: str) -> str:
    """Return the address as it is stored and compared, so that case or width makes no second account."""
    text = unicodedata.normalize("NFKC", email).strip()
    text = unicodedata.normalize("NFKC", text.lower())
    local, at, domain = text.rpartition("@")
    if not at or domain.isascii():
        return text
    try:
        return f"{local}@{domain.encode('idna').decode()}"
    except UnicodeError:
        return text


def validate_email(email: str, field: str = "email") -> None:
    """Refuse a normalized address that cannot receive mail or can be mistaken for another one."""
    try:
        parse_recipient(email)
    except Invalid:
        raise Invalid({field: _NOT_AN_ADDRESS}) from None
    local, _, domain = email.rpartition("@")
    problem = _local_part_problem(local)
    for label in domain.split("."):
        problem = problem or _label_problem(label)
    if problem:
        raise Invalid({field: problem})


def _local_part_problem(local: str) -> str:
    if local.isascii():
        return "" if _LOCAL_PART.fullmatch(local) else _NOT_AN_ADDRESS
    if _has_hidden(local):
        return _HIDDEN
    if not _LOCAL_PART.fullmatch(local):
        return _NOT_AN_ADDRESS
    return _MIXED if not is_single_script(local) or has_mixed_digits(local) else ""


def _label_problem(label: str) -> str:
    """Judge a domain label by its decoded form, which is what readers see."""
    if not label.lower().startswith(_ENCODED_LABEL):
        return ""
    try:
        decoded = label[len(_ENCODED_LABEL) :].encode("ascii").decode("punycode")
    except UnicodeError:
        return _NOT_AN_ADDRESS
    if _has_hidden(decoded):
        return _HIDDEN
    is_canonical = (
        not decoded.isascii()
        and unicodedata.normalize("NFKC", decoded.lower()) == decoded
        and decoded.encode("punycode").decode() == label[len(_ENCODED_LABEL) :]
        and all(character == "-" or unicodedata.category(character)[0] in "LMN" for character in decoded)
    )
    if not is_canonical:
        return _NOT_AN_ADDRESS
    return _MIXED if not is_single_script(decoded) or has_mixed_digits(decoded) else ""


def _has_hidden(text: str) -> bool:
    if _HIDDEN_OTHERS.search(text) or _HIDDEN_MARKS.search(text):
        return True
    previous, marks = "", 0
    for character in text:
        category = unicodedata.category(character)
        if category in _HIDDEN_CATEGORIES or ord(character) in _HIDDEN_SUPPLEMENT:
            return True
        is_mark = category[0] == "M"
        marks = marks + 1 if is_mark else 0
        if (is_mark and (not previous or previous == character)) or marks > _MAX_MARKS_IN_A_ROW:
            return True
        previous = character
    return False
