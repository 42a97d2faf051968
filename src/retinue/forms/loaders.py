from typing import Annotated

from retinue.forms.errors import FormNotFound
from retinue.forms.models import Form
from retinue.kit.context import Context
from retinue.kit.http.routing import PathLoader, path_loader

FormById = Annotated[Form, path_loader(Form, "form_id", FormNotFound)]


async def find_by_slug(ctx: Context, slug: str) -> Form | None:
    return await ctx.db.find(Form, slug=slug)


FormBySlug = Annotated[Form, PathLoader("form_slug", find_by_slug, FormNotFound)]
