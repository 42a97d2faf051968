from retinue.kit.context import Context
from retinue.kit.errors import FileTooLarge, UnsupportedFileType
from retinue.kit.http.routing import SIGNED_IN, Routes, Upload
from retinue.kit.http.uploads import FormData
from retinue.kit.schemas import Message
from retinue.users import profiles
from retinue.users.schemas import AvatarChanged, ProfileOut, ProfileUpdate, ProfileUpdated

AVATAR = Upload(max_file=2 * 1024 * 1024, fields=("avatar",))

routes = Routes("/api/v1/profile", tag="profile")


@routes.get("", requires=SIGNED_IN)
async def get_profile(ctx: Context) -> ProfileOut:
    return await profiles.show(ctx)


@routes.put("", requires=SIGNED_IN)
async def update_profile(ctx: Context, body: ProfileUpdate) -> ProfileUpdated:
    return ProfileUpdated.of(await profiles.update(ctx, body))


@routes.post("/avatar", requires=SIGNED_IN, upload=AVATAR, errors=(FileTooLarge, UnsupportedFileType))
async def upload_avatar(ctx: Context, form: FormData) -> AvatarChanged:
    url = await profiles.set_avatar(ctx, form.file("avatar"))
    return AvatarChanged(avatar_url=url, message="Your avatar has been changed.")


@routes.delete("/avatar", requires=SIGNED_IN)
async def remove_avatar(ctx: Context) -> Message:
    await profiles.remove_avatar(ctx)
    return Message(message="Your avatar has been removed.")
