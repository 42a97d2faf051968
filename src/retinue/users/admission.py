"""Accounts that are restricted to their own profile, second factors and sessions, and why."""

from typing import Any

import sqlalchemy as sa

from retinue.kit.principal import Restriction
from retinue.kit.settings import Settings
from retinue.users.models import User, UserStatus

PENDING = Restriction(
    reason="account_pending",
    required="approved_account",
    message="Your account is waiting for approval. Ask an administrator to approve it.",
)
UNVERIFIED = Restriction(
    reason="email_not_verified",
    required="verified_email",
    message="Your email address is not verified. Open the link that was sent to it, or ask for a new one "
    "with POST /auth/resend-verification.",
)

_users = User.__table__


def restriction_of(
    settings: Settings, *, is_pending: bool, is_vouched_for: bool, email_verified: bool
) -> Restriction | None:
    """Return why an account may not be used yet. Only development accepts unverified addresses."""
    if is_pending:
        return PENDING
    if is_vouched_for or email_verified or settings.is_development:
        return None
    return UNVERIFIED


def is_admitted(settings: Settings, user: User) -> bool:
    """Return whether an account is active and unrestricted."""
    restriction = restriction_of(
        settings,
        is_pending=user.is_pending,
        is_vouched_for=user.is_vouched_for,
        email_verified=user.email_verified,
    )
    return user.status is UserStatus.active and restriction is None


def admitted_users(settings: Settings) -> Any:
    """Return the rule of `is_admitted` as an SQL condition on the users table."""
    rules = [_users.c.status == UserStatus.active.value, _users.c.is_pending == sa.false()]
    if not settings.is_development:
        rules.append(sa.or_(_users.c.is_vouched_for == sa.true(), _users.c.email_verified == sa.true()))
    return sa.and_(*rules)
