"""A form's settings and branding: known keys are validated, others are stored and warned about."""

import functools
import re
from collections.abc import Callable
from typing import Any

import msgspec

from retinue.kit.clock import Instant
from retinue.kit.context import Context
from retinue.kit.egress import Egress, EgressRefused
from retinue.kit.errors import Invalid
from retinue.kit.ignored_fields import report_unknown_keys
from retinue.kit.json_types import JsonObject
from retinue.kit.network_addresses import split_url
from retinue.kit.schema.validation import read_instant

MAX_SETTINGS_BYTES = 64 * 1024
DEFAULT_REQUESTS_PER_MINUTE = 60
DEFAULT_TOTAL_PER_MINUTE = 6000
MAX_PROOF_OF_WORK_BITS = 24
DEFAULT_HONEYPOT_FIELD = "website"
"""The default name of the invisible honeypot field."""

_COLOUR = re.compile(r"#([0-9a-fA-F]{3,4}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})")
_COLOURS = ("primary_color", "background_color")
_CONTROLS = re.compile(r"[\s\x00-\x1f\x7f\\]")
_INTERNAL_CONVERSATION_SETTINGS = ("agent_id", "model", "tone")
_INTERNAL_SETTINGS = ("notifications", "limits", "spam", "confirmation_email")

Problems = dict[str, str]


class FormRateLimits(msgspec.Struct, frozen=True, kw_only=True):
    """Requests per minute and network address for one form; `total` is for all addresses together."""

    submit: int = DEFAULT_REQUESTS_PER_MINUTE
    upload: int = DEFAULT_REQUESTS_PER_MINUTE
    messages: int = DEFAULT_REQUESTS_PER_MINUTE
    total: int = DEFAULT_TOTAL_PER_MINUTE


class SpamRules(msgspec.Struct, frozen=True, kw_only=True):
    """`honeypot` is the name of an invisible field; `proof_of_work` is in bits."""

    honeypot: str | None = None
    min_seconds: float = 0
    proof_of_work: int = 0


class ConversationRules(msgspec.Struct, frozen=True, kw_only=True):
    """Settings for filling in the form by conversation.

    Without `agent_id`, `model` is used; None means the tenant's default model, False no model.
    """

    enabled: bool = True
    agent_id: str | None = None
    model: str | bool | None = None
    greeting: str | None = None
    tone: str | None = None
    language: str | None = None
    confirm: bool = False


class FormRules(msgspec.Struct, frozen=True, kw_only=True):
    """The settings that decide how submissions are handled."""

    success_message: str = "Thank you. Your answers were received."
    redirect_url: str | None = None
    submit_limit: int | None = None
    close_at: Instant | None = None
    one_per_user: bool = False
    limits: FormRateLimits = FormRateLimits()
    spam: SpamRules = SpamRules()
    conversational: ConversationRules = ConversationRules()


class _NotificationKeys(msgspec.Struct):
    email: Any = None
    channel_ids: Any = None


class _ConfirmationKeys(msgspec.Struct):
    enabled: Any = None
    subject: Any = None
    message: Any = None


class _SettingKeys(msgspec.Struct):
    """Every key that has an effect; the values are validated one by one."""

    submit_button_text: Any = None
    success_message: Any = None
    redirect_url: Any = None
    notifications: _NotificationKeys | None = None
    submit_limit: Any = None
    close_at: Any = None
    one_per_user: Any = None
    confirmation_email: _ConfirmationKeys | bool | None = None
    conversational: ConversationRules | None = None
    spam: SpamRules | None = None
    limits: FormRateLimits | None = None


class _BrandingKeys(msgspec.Struct):
    logo_url: Any = None
    primary_color: Any = None
    background_color: Any = None


@functools.lru_cache(maxsize=1024)
def parse_rules(stored: str) -> FormRules:
    """Parse stored settings. The cache is keyed by the text, so changed settings need no invalidation."""
    settings = msgspec.json.decode(stored)
    spam = settings.get("spam") or {}
    plain = {
        name: settings[name]
        for name in ("success_message", "redirect_url", "submit_limit", "close_at", "one_per_user")
        if settings.get(name)
    }
    return FormRules(
        **plain,
        limits=FormRateLimits(
            **{
                name: value
                for name, value in (settings.get("limits") or {}).items()
                if _is_limit(name, value)
            }
        ),
        spam=SpamRules(
            honeypot=_honeypot_field(spam),
            min_seconds=spam.get("min_seconds") or 0,
            proof_of_work=spam.get("proof_of_work") or 0,
        ),
        conversational=_parse_conversation_rules(settings.get("conversational") or {}),
    )


def _parse_conversation_rules(stored: JsonObject) -> ConversationRules:
    """Ignore values that were stored before they were validated."""
    known = {
        name: value
        for name, value in stored.items()
        if value is not None and name in _CONVERSATION_CHECKS and not _CONVERSATION_CHECKS[name](value, name)
    }
    return ConversationRules(**known)


def _is_limit(name: str, value: object) -> bool:
    return name in FormRateLimits.__struct_fields__ and isinstance(value, int)


def public_settings(settings: JsonObject) -> JsonObject:
    """Return the settings without internal ones; of the spam rules, only what a page needs."""
    public = {name: value for name, value in settings.items() if name not in _INTERNAL_SETTINGS}
    if isinstance(public.get("conversational"), dict):
        public["conversational"] = {
            name: value
            for name, value in public["conversational"].items()
            if name not in _INTERNAL_CONVERSATION_SETTINGS
        }
    spam = settings.get("spam") or {}
    if spam.get("proof_of_work"):
        public["proof_of_work"] = spam["proof_of_work"]
    if spam.get("honeypot"):
        public["honeypot"] = _honeypot_field(spam)
    return public


def _honeypot_field(spam: JsonObject) -> str | None:
    honeypot = spam.get("honeypot")
    return (honeypot if isinstance(honeypot, str) else DEFAULT_HONEYPOT_FIELD) if honeypot else None


def validate_settings(ctx: Context, raw_settings: JsonObject | None) -> JsonObject:
    settings = raw_settings or {}
    problems: Problems = {}
    for name, value in settings.items():
        check = _SETTING_CHECKS.get(name)
        if value is not None and check is not None:
            problems |= check(ctx, value, f"settings.{name}")
    _check_size(settings, "settings", problems)
    if isinstance(settings.get("close_at"), str) and "settings.close_at" not in problems:
        settings = {**settings, "close_at": read_instant("settings.close_at", settings["close_at"])}
    if problems:
        raise Invalid(problems)
    report_unknown_keys(ctx.caller.ignored, settings, _SettingKeys, "settings")
    return settings


def validate_branding(ctx: Context, raw_branding: JsonObject | None) -> JsonObject:
    branding = raw_branding or {}
    problems: Problems = {}
    for name in _COLOURS:
        colour = branding.get(name)
        if colour and not (isinstance(colour, str) and _COLOUR.fullmatch(colour)):
            problems[f"branding.{name}"] = "must be a colour such as #1a2b3c"
    if branding.get("logo_url"):
        problems |= _check_link(ctx, branding["logo_url"], "branding.logo_url")
    _check_size(branding, "branding", problems)
    if problems:
        raise Invalid(problems)
    report_unknown_keys(ctx.caller.ignored, branding, _BrandingKeys, "branding")
    return branding


def _check_size(settings: JsonObject, path: str, problems: Problems) -> None:
    if len(msgspec.json.encode(settings)) > MAX_SETTINGS_BYTES:
        problems[path] = f"must be at most {MAX_SETTINGS_BYTES // 1024} KiB"


def _check_link(ctx: Context, value: object, path: str) -> Problems:
    """Accept https, a path on this server, or a destination the operator allows: a browser goes there."""
    problem = {path: "must be an https URL, or a path that begins with a single /"}
    if not isinstance(value, str) or len(value) > 2048 or _CONTROLS.search(value):
        return problem
    if not value or (value.startswith("/") and not value.startswith("//")):
        return {}
    return {} if _is_allowed_url(ctx, value) else problem


def _is_allowed_url(ctx: Context, url: str) -> bool:
    try:
        parts = split_url(url)
        if not parts.hostname or parts.username is not None or parts.scheme not in {"http", "https"}:
            return False
        if parts.scheme == "http":
            ctx.adapter(Egress).check(url, require_https=True)
    except (ValueError, EgressRefused):
        return False
    return True


def _text_check(max_length: int) -> Callable[[Context, Any, str], Problems]:
    return lambda _ctx, value, path: _text_problems(value, path, max_length)


def _text_problems(value: object, path: str, max_length: int) -> Problems:
    is_good = isinstance(value, str) and len(value) <= max_length
    return {} if is_good else {path: f"must be text of at most {max_length} characters"}


def _check_flag(_ctx: Context, value: object, path: str) -> Problems:
    return _flag_problems(value, path)


def _flag_problems(value: object, path: str) -> Problems:
    return {} if isinstance(value, bool) else {path: "must be true or false"}


def _check_object(_ctx: Context, value: object, path: str) -> Problems:
    return {} if isinstance(value, dict) else {path: "must be an object"}


def _check_instant(_ctx: Context, value: object, path: str) -> Problems:
    try:
        read_instant(path, value if isinstance(value, str) else "")
    except Invalid as error:
        return dict(error.details or {})
    return {}


def _number_problems(value: Any, path: str, minimum: int, maximum: int, *, is_whole: bool = True) -> Problems:
    is_number = isinstance(value, int if is_whole else int | float) and not isinstance(value, bool)
    if is_number and minimum <= value <= maximum:
        return {}
    return {path: f"must be a {'whole ' if is_whole else ''}number from {minimum} to {maximum}"}


def _check_submit_limit(_ctx: Context, value: object, path: str) -> Problems:
    return _number_problems(value, path, 1, 1_000_000_000)


def _check_rate_limits(_ctx: Context, value: object, path: str) -> Problems:
    if not isinstance(value, dict):
        return {path: "must be an object"}
    problems: Problems = {}
    for name in FormRateLimits.__struct_fields__:
        if value.get(name) is not None:
            problems |= _number_problems(value[name], f"{path}.{name}", 1, 100_000)
    return problems


def _check_spam(_ctx: Context, value: object, path: str) -> Problems:
    if not isinstance(value, dict):
        return {path: "must be an object"}
    problems: Problems = {}
    honeypot = value.get("honeypot")
    is_name = isinstance(honeypot, str) and 0 < len(honeypot) <= 64
    if honeypot is not None and not isinstance(honeypot, bool) and not is_name:
        problems[f"{path}.honeypot"] = "must be true, false or the name of a field"
    if value.get("min_seconds") is not None:
        problems |= _number_problems(value["min_seconds"], f"{path}.min_seconds", 0, 3600, is_whole=False)
    if value.get("proof_of_work") is not None:
        problems |= _number_problems(
            value["proof_of_work"], f"{path}.proof_of_work", 0, MAX_PROOF_OF_WORK_BITS
        )
    return problems


def _model_problems(value: object, path: str) -> Problems:
    is_good = value is False or (isinstance(value, str) and 0 < len(value) <= 200)
    return {} if is_good else {path: "must be the name of a model, or false for none"}


_CONVERSATION_CHECKS: dict[str, Callable[[Any, str], Problems]] = {
    "enabled": _flag_problems,
    "agent_id": functools.partial(_text_problems, max_length=64),
    "model": _model_problems,
    "greeting": functools.partial(_text_problems, max_length=2000),
    "tone": functools.partial(_text_problems, max_length=200),
    "language": functools.partial(_text_problems, max_length=35),
    "confirm": _flag_problems,
}


def _check_conversational(_ctx: Context, value: object, path: str) -> Problems:
    if not isinstance(value, dict):
        return {path: "must be an object"}
    problems: Problems = {}
    for name, check in _CONVERSATION_CHECKS.items():
        if value.get(name) is not None:
            problems |= check(value[name], f"{path}.{name}")
    return problems


def _check_confirmation_email(_ctx: Context, value: object, path: str) -> Problems:
    return {} if isinstance(value, bool | dict) else {path: "must be true, false or an object"}


_SETTING_CHECKS: dict[str, Callable[[Context, Any, str], Problems]] = {
    "submit_button_text": _text_check(100),
    "success_message": _text_check(2000),
    "redirect_url": _check_link,
    "notifications": _check_object,
    "submit_limit": _check_submit_limit,
    "close_at": _check_instant,
    "one_per_user": _check_flag,
    "confirmation_email": _check_confirmation_email,
    "conversational": _check_conversational,
    "spam": _check_spam,
    "limits": _check_rate_limits,
}
