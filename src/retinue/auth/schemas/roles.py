from typing import Annotated

from msgspec import Meta

from retinue.auth.schemas.mfa import StepUp


class RoleUpdate(StepUp, kw_only=True):
    permissions: Annotated[list[Annotated[str, Meta(max_length=100)]], Meta(max_length=500)]
