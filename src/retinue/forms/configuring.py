"""A form's settings, branding and table: what is known is checked when it is stored, the rest is kept."""

import functools
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import msgspec

from retinue.kit.clock import Instant
from retinue.kit.context import Context
from retinue.kit.egress import Egress, EgressRefused
from retinue.kit.errors import Invalid
from retinue.kit.validation import read_instant

MOST_BYTES = 64 * 1024
PER_MINUTE = 60
TOTAL_PER_MINUTE = 6000
HARDEST_WORK = 24
TRAP = "website"
"""What the field that people do not see is called, unless the form says something else."""

_COLOUR = re.compile(r"#([0-9a-fA-F]{3,4}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})")
_COLOURS = ("primary_color", "background_color")
_CONTROLS = re.compile(r"[\s\x00-\x1f\x7f\\]")
_INTERNAL = ("agent_id", "model", "tone")
_HIDDEN = ("notifications", "limits", "spam", "confirmation_email")

Json = dict[str, Any]
Problems = dict[str, str]


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """A minute of one address at one form; `total` is of all addresses together."""

    submit: int = PER_MINUTE
    upload: int = PER_MINUTE
    messages: int = PER_MINUTE
    total: int = TOTAL_PER_MINUTE


class Spam(msgspec.Struct, frozen=True, kw_only=True):
    """`honeypot` is the name of a field that people do not see; `proof_of_work` is in bits."""

    honeypot: str | None = None
    min_seconds: float = 0
    proof_of_work: int = 0


class Conversational(msgspec.Struct, frozen=True, kw_only=True):
    """How a form is filled in by talking.

    `model` is asked where there is no agent: the tenant's own choice without one, and none at all for False.
    """

    enabled: bool = True
    agent_id: str | None = None
    model: str | bool | None = None
    greeting: str | None = None
    tone: str | None = None
    language: str | None = None
    confirm: bool = False


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    """What of a form's settings decides about a submission."""

    success_message: str = "Thank you. Your answers were received."
    redirect_url: str | None = None
    submit_limit: int | None = None
    close_at: Instant | None = None
    one_per_user: bool = False
    limits: Limits = Limits()
    spam: Spam = Spam()
    conversational: Conversational = Conversational()


@functools.lru_cache(maxsize=1024)
def rules_of(stored: str) -> Rules:
    """From the stored text, which is the key: changed settings are another text."""
    settings = msgspec.json.decode(stored)
    spam = settings.get("spam") or {}
    plain = {
        name: settings[name]
        for name in ("success_message", "redirect_url", "submit_limit", "close_at", "one_per_user")
        if settings.get(name)
    }
    return Rules(
        **plain,
        limits=Limits(
            **{
                name: value
                for name, value in (settings.get("limits") or {}).items()
                if _is_limit(name, value)
            }
        ),
        spam=Spam(
            honeypot=_trap_of(spam),
            min_seconds=spam.get("min_seconds") or 0,
            proof_of_work=spam.get("proof_of_work") or 0,
        ),
        conversational=_conversational_of(settings.get("conversational") or {}),
    )


def _conversational_of(stored: Json) -> Conversational:
    """What was stored before anyone checked it is not let in now."""
    known = {
        name: value
        for name, value in stored.items()
        if value is not None and name in _CONVERSATIONAL and not _CONVERSATIONAL[name](value, name)
    }
    return Conversational(**known)


def _is_limit(name: str, value: Any) -> bool:
    return name in Limits.__struct_fields__ and isinstance(value, int)


def public_settings(settings: Json) -> Json:
    """Without what visitors need not know; of the traps only what a page has to do."""
    shown = {name: value for name, value in settings.items() if name not in _HIDDEN}
    if isinstance(shown.get("conversational"), dict):
        shown["conversational"] = {
            name: value for name, value in shown["conversational"].items() if name not in _INTERNAL
        }
    spam = settings.get("spam") or {}
    if spam.get("proof_of_work"):
        shown["proof_of_work"] = spam["proof_of_work"]
    if spam.get("honeypot"):
        shown["honeypot"] = _trap_of(spam)
    return shown


def _trap_of(spam: Json) -> str | None:
    honeypot = spam.get("honeypot")
    return (honeypot if isinstance(honeypot, str) else TRAP) if honeypot else None


def read_settings(ctx: Context, given: Json | None) -> Json:
    settings = given or {}
    problems: Problems = {}
    for name, value in settings.items():
        check = _SETTINGS.get(name)
        if value is not None and check is not None:
            problems |= check(ctx, value, f"settings.{name}")
    _refuse_large(settings, "settings", problems)
    if isinstance(settings.get("close_at"), str) and "settings.close_at" not in problems:
        settings = {**settings, "close_at": read_instant("settings.close_at", settings["close_at"])}
    if problems:
        raise Invalid(problems)
    return settings


def read_branding(ctx: Context, given: Json | None) -> Json:
    branding = given or {}
    problems: Problems = {}
    for name in _COLOURS:
        colour = branding.get(name)
        if colour and not (isinstance(colour, str) and _COLOUR.fullmatch(colour)):
            problems[f"branding.{name}"] = "must be a colour such as #1a2b3c"
    if branding.get("logo_url"):
        problems |= _link(ctx, branding["logo_url"], "branding.logo_url")
    _refuse_large(branding, "branding", problems)
    if problems:
        raise Invalid(problems)
    return branding


def _refuse_large(given: Json, place: str, problems: Problems) -> None:
    if len(msgspec.json.encode(given)) > MOST_BYTES:
        problems[place] = f"is larger than {MOST_BYTES // 1024} KiB"


def _link(ctx: Context, value: Any, place: str) -> Problems:
    """https, a path of this server, or a destination that the operator allows; a browser goes there."""
    wrong = {place: "must be an https address, or a path that begins with one /"}
    if not isinstance(value, str) or len(value) > 2048 or _CONTROLS.search(value):
        return wrong
    if not value or (value.startswith("/") and not value.startswith("//")):
        return {}
    return {} if _is_outside(ctx, value) else wrong


def _is_outside(ctx: Context, url: str) -> bool:
    try:
        parts = urlsplit(url)
        if not parts.hostname or parts.username is not None or parts.scheme not in {"http", "https"}:
            return False
        if parts.scheme == "http":
            ctx.adapter(Egress).check(url, require_https=True)
    except (ValueError, EgressRefused):
        return False
    return True


def _text(longest: int) -> Callable[[Context, Any, str], Problems]:
    return lambda _ctx, value, place: _text_problems(value, place, longest)


def _text_problems(value: Any, place: str, longest: int) -> Problems:
    is_good = isinstance(value, str) and len(value) <= longest
    return {} if is_good else {place: f"must be text of at most {longest} characters"}


def _flag(_ctx: Context, value: Any, place: str) -> Problems:
    return _flag_problems(value, place)


def _flag_problems(value: Any, place: str) -> Problems:
    return {} if isinstance(value, bool) else {place: "must be true or false"}


def _object(_ctx: Context, value: Any, place: str) -> Problems:
    return {} if isinstance(value, dict) else {place: "must be an object"}


def _moment(_ctx: Context, value: Any, place: str) -> Problems:
    try:
        read_instant(place, value if isinstance(value, str) else "")
    except Invalid as wrong:
        return dict(wrong.details or {})
    return {}


def _number(value: Any, place: str, least: int, most: int, *, is_whole: bool = True) -> Problems:
    is_number = isinstance(value, int if is_whole else int | float) and not isinstance(value, bool)
    if is_number and least <= value <= most:
        return {}
    return {place: f"must be a {'whole ' if is_whole else ''}number from {least} to {most}"}


def _submit_limit(_ctx: Context, value: Any, place: str) -> Problems:
    return _number(value, place, 1, 1_000_000_000)


def _limits(_ctx: Context, value: Any, place: str) -> Problems:
    if not isinstance(value, dict):
        return {place: "must be an object"}
    problems: Problems = {}
    for name in Limits.__struct_fields__:
        if value.get(name) is not None:
            problems |= _number(value[name], f"{place}.{name}", 1, 100_000)
    return problems


def _spam(_ctx: Context, value: Any, place: str) -> Problems:
    if not isinstance(value, dict):
        return {place: "must be an object"}
    problems: Problems = {}
    honeypot = value.get("honeypot")
    is_name = isinstance(honeypot, str) and 0 < len(honeypot) <= 64
    if honeypot is not None and not isinstance(honeypot, bool) and not is_name:
        problems[f"{place}.honeypot"] = "must be true, false or the name of a field"
    if value.get("min_seconds") is not None:
        problems |= _number(value["min_seconds"], f"{place}.min_seconds", 0, 3600, is_whole=False)
    if value.get("proof_of_work") is not None:
        problems |= _number(value["proof_of_work"], f"{place}.proof_of_work", 0, HARDEST_WORK)
    return problems


def _model_problems(value: Any, place: str) -> Problems:
    is_good = value is False or (isinstance(value, str) and 0 < len(value) <= 200)
    return {} if is_good else {place: "must be the name of a model, or false for none"}


_CONVERSATIONAL: dict[str, Callable[[Any, str], Problems]] = {
    "enabled": _flag_problems,
    "agent_id": functools.partial(_text_problems, longest=64),
    "model": _model_problems,
    "greeting": functools.partial(_text_problems, longest=2000),
    "tone": functools.partial(_text_problems, longest=200),
    "language": functools.partial(_text_problems, longest=35),
    "confirm": _flag_problems,
}


def _conversational(_ctx: Context, value: Any, place: str) -> Problems:
    if not isinstance(value, dict):
        return {place: "must be an object"}
    problems: Problems = {}
    for name, check in _CONVERSATIONAL.items():
        if value.get(name) is not None:
            problems |= check(value[name], f"{place}.{name}")
    return problems


def _confirmation(_ctx: Context, value: Any, place: str) -> Problems:
    return {} if isinstance(value, bool | dict) else {place: "must be true, false or an object"}


_SETTINGS: dict[str, Callable[[Context, Any, str], Problems]] = {
    "submit_button_text": _text(100),
    "success_message": _text(2000),
    "redirect_url": _link,
    "notifications": _object,
    "submit_limit": _submit_limit,
    "close_at": _moment,
    "one_per_user": _flag,
    "confirmation_email": _confirmation,
    "conversational": _conversational,
    "spam": _spam,
    "limits": _limits,
}
