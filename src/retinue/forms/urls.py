"""Public URLs of forms."""

from retinue.kit.context import Context

SCRIPT_PATH = "/embed/form.js"


def page_url(ctx: Context, slug: str) -> str:
    return f"{ctx.settings.base_url}/f/{slug}"


def script_url(ctx: Context) -> str:
    return f"{ctx.settings.base_url}{SCRIPT_PATH}"
