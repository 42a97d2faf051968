from typing import Literal

from msgspec import UNSET, UnsetType

from retinue.auth.schemas.accounts import LinkToken
from retinue.auth.schemas.sign_in import NewPassword
from retinue.kit.schema.base import Name, Schema
from retinue.users.schemas import Address


class SetupState(Schema, kw_only=True):
    open: bool
    sends_mail: bool


class InstanceSetupRequest(Address, kw_only=True):
    """The first administrator, and the token of the link that the server printed."""

    token: LinkToken
    first_name: Name
    last_name: Name
    password: NewPassword
    session: Literal["cookie"] | UnsetType = UNSET
    remember: bool = False
