from typing import Annotated

from retinue.forms.errors import FormNotFound
from retinue.forms.models import Form
from retinue.kit.context import Context
from retinue.kit.http.routing import Loaded, loaded

FormById = Annotated[Form, loaded(Form, "form_id", FormNotFound)]


async def find_by_slug(ctx: Context, slug: str) -> Form | None:
    return await ctx.db.find(Form, slug=slug)


FormBySlug = Annotated[Form, Loaded("form_slug", find_by_slug, FormNotFound)]
