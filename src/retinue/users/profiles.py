"""What people say about themselves."""

from retinue.adapters import images
from retinue.files import service as files
from retinue.files.models import File
from retinue.files.queries import AVATAR
from retinue.kit.context import Context
from retinue.kit.errors import Invalid
from retinue.kit.http.uploads import UploadedFile
from retinue.kit.references import Referrer
from retinue.kit.schemas import given
from retinue.users.events import UserUpdated
from retinue.users.locales import is_language, is_timezone
from retinue.users.models import User
from retinue.users.queries import fetch_self, hold_self
from retinue.users.schemas import ProfileOut, ProfileUpdate


async def show(ctx: Context) -> ProfileOut:
    user = await fetch_self(ctx)
    picture = user.avatar_file_id
    return ProfileOut.of(user, avatar_url=None if picture is None else _avatar_url(ctx, picture))


def _avatar_url(ctx: Context, file_id: str) -> str:
    """Where anyone may fetch the picture; a new picture has a new address."""
    return f"{ctx.settings.base_url}/api/v1/public/avatars/{file_id}"


async def update(ctx: Context, body: ProfileUpdate) -> User:
    changes = given(body)
    wrong = {}
    if "timezone" in changes and not await is_timezone(changes["timezone"]):
        wrong["timezone"] = "must be an IANA time zone such as Europe/Berlin"
    if "language" in changes and not is_language(changes["language"]):
        wrong["language"] = "must be a BCP 47 language tag such as pt-BR"
    if wrong:
        raise Invalid(wrong)
    user = await hold_self(ctx)
    changed = {name: value for name, value in changes.items() if getattr(user, name) != value}
    if changed:
        await ctx.db.update(user, **changed)
        ctx.emit(UserUpdated(user_id=user.id, changed=[*changed]))
    return user


async def set_avatar(ctx: Context, upload: UploadedFile) -> str:
    """The address of the new picture, which is ours before the transaction opens.

    The user is held, so that no earlier picture is left.
    """
    picture = await images.avatar(upload.path)
    kept = await files.store(
        ctx, picture.content, purpose=AVATAR, filename="avatar.webp", mime_type=picture.mime_type
    )
    user = await hold_self(ctx)
    await discard_avatar(ctx, user)
    await ctx.db.update(user, avatar_file_id=kept.id)
    ctx.emit(UserUpdated(user_id=user.id, changed=["avatar"]))
    return _avatar_url(ctx, kept.id)


async def remove_avatar(ctx: Context) -> None:
    user = await hold_self(ctx)
    if await discard_avatar(ctx, user):
        await ctx.db.update(user, avatar_file_id=None)
        ctx.emit(UserUpdated(user_id=user.id, changed=["avatar"]))


async def discard_avatar(ctx: Context, user: User) -> bool:
    """Remove the user's picture, if there is one; whether there was."""
    if user.avatar_file_id is None:
        return False
    file = await ctx.db.get(File, user.avatar_file_id)
    if file is not None:
        await files.remove(ctx, file)
    return True


async def find_users_with_picture(ctx: Context, file_id: str) -> list[Referrer]:
    users = await ctx.db.all(User, avatar_file_id=file_id)
    return [Referrer(user.id, user.email) for user in users]


async def detach_picture(ctx: Context, file_id: str) -> None:
    """Leave users whose picture is deleted without one."""
    for user in await ctx.db.all(User, avatar_file_id=file_id):
        await ctx.db.update(user, avatar_file_id=None)
        ctx.emit(UserUpdated(user_id=user.id, changed=["avatar"]))
