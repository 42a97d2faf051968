from retinue.kit.context import Context
from retinue.kit.errors import FileTooLarge, UnsupportedFileType
from retinue.kit.http.routing import ACCOUNT, Routes, Upload
from retinue.kit.http.uploads import FormData
from retinue.kit.schema.base import MessageReply
from retinue.users import profiles
from retinue.users.schemas import AvatarChanged, ProfileOut, ProfileUpdate, ProfileUpdated

AVATAR = Upload(max_file=2 * 1024 * 1024, fields=("avatar",))

routes = Routes("/api/v1/profile", tag="profile")


@routes.get("", requires=ACCOUNT)
async def get_profile(ctx: Context) -> ProfileOut:
    """Return the caller's own profile."""
    return await profiles.show(ctx)


@routes.put("", requires=ACCOUNT)
async def update_profile(ctx: Context, body: ProfileUpdate) -> ProfileUpdated:
    """Change the caller's own profile; fields that are not sent stay unchanged.

    Email address and role cannot be changed here.
    """
    return ProfileUpdated.of(await profiles.update(ctx, body))


@routes.post("/avatar", requires=ACCOUNT, upload=AVATAR, errors=(FileTooLarge, UnsupportedFileType))
async def upload_avatar(ctx: Context, form: FormData) -> AvatarChanged:
    """Set the caller's profile picture.

    It is converted to a square WebP of at most 512 pixels without metadata, and anyone who has its URL can
    see it. The previous picture is deleted.
    """
    url = await profiles.set_avatar(ctx, form.file("avatar"))
    return AvatarChanged(avatar_url=url, message="Your avatar has been changed.")


@routes.delete("/avatar", requires=ACCOUNT)
async def remove_avatar(ctx: Context) -> MessageReply:
    """Delete the caller's profile picture. Without one, nothing changes."""
    await profiles.remove_avatar(ctx)
    return MessageReply(message="Your avatar has been removed.")
