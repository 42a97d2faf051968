"""Profiles and profile pictures."""

from retinue.adapters import images
from retinue.files import service as files
from retinue.files.models import File
from retinue.files.queries import AVATAR
from retinue.kit.context import Context
from retinue.kit.context.references import Referrer
from retinue.kit.errors import Invalid
from retinue.kit.http.uploads import UploadedFile
from retinue.kit.schema.base import sent_fields
from retinue.kit.text.locales import is_language, is_timezone
from retinue.users.events import UserUpdated
from retinue.users.models import User
from retinue.users.queries import fetch_self, lock_self
from retinue.users.schemas import ProfileOut, ProfileUpdate


async def show(ctx: Context) -> ProfileOut:
    user = await fetch_self(ctx)
    picture = user.avatar_file_id
    return ProfileOut.of(user, avatar_url=None if picture is None else _avatar_url(ctx, picture))


def _avatar_url(ctx: Context, file_id: str) -> str:
    """Return the public URL of a picture; a new picture has a new URL."""
    return f"{ctx.settings.base_url}/api/v1/public/avatars/{file_id}"


async def update(ctx: Context, body: ProfileUpdate) -> User:
    changes = sent_fields(body)
    problems = {}
    if "timezone" in changes and not await is_timezone(changes["timezone"]):
        problems["timezone"] = "must be an IANA time zone such as Europe/Berlin"
    if "language" in changes and not is_language(changes["language"]):
        problems["language"] = "must be a BCP 47 language tag such as pt-BR"
    if problems:
        raise Invalid(problems)
    user = await lock_self(ctx)
    changed = {name: value for name, value in changes.items() if getattr(user, name) != value}
    if changed:
        await ctx.db.update(user, **changed)
        ctx.emit(UserUpdated(user_id=user.id, changed=[*changed]))
    return user


async def set_avatar(ctx: Context, upload: UploadedFile) -> str:
    """Store a new picture and return its URL.

    The bytes are stored before the transaction opens. The user's row is locked, so that concurrent uploads
    leave no orphaned picture.
    """
    picture = await images.avatar(upload.path, ctx.requester)
    file = await files.store(
        ctx, picture.content, purpose=AVATAR, filename="avatar.webp", mime_type=picture.mime_type
    )
    user = await lock_self(ctx)
    await discard_avatar(ctx, user)
    await ctx.db.update(user, avatar_file_id=file.id)
    ctx.emit(UserUpdated(user_id=user.id, changed=["avatar"]))
    return _avatar_url(ctx, file.id)


async def remove_avatar(ctx: Context) -> None:
    user = await lock_self(ctx)
    if await discard_avatar(ctx, user):
        await ctx.db.update(user, avatar_file_id=None)
        ctx.emit(UserUpdated(user_id=user.id, changed=["avatar"]))


async def discard_avatar(ctx: Context, user: User) -> bool:
    """Delete the user's picture; return whether there was one."""
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
    """Clear the picture of users whose picture file is being deleted."""
    for user in await ctx.db.all(User, avatar_file_id=file_id):
        await ctx.db.update(user, avatar_file_id=None)
        ctx.emit(UserUpdated(user_id=user.id, changed=["avatar"]))
