"""Where a form is on the web."""

from retinue.kit.context import Context

SCRIPT_PATH = "/embed/form.js"


def page_address(ctx: Context, slug: str) -> str:
    return f"{ctx.settings.base_url}/f/{slug}"


def script_address(ctx: Context) -> str:
    return f"{ctx.settings.base_url}{SCRIPT_PATH}"
