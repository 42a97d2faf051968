"""The page of a form, standalone or framed by another site; the script renders the form in it."""

from functools import cache
from html import escape
from importlib import resources

from retinue.forms.models import Form
from retinue.forms.pages.script import form_script
from retinue.kit.http.page_scripts import scripts_missing
from retinue.kit.http.replies import Reply, WebDocument
from retinue.kit.network_addresses import policy_sources

_NEVER_FRAMED, _FRAMED = "'none'", "*"
_HEADERS = (("Cache-Control", "no-cache"),)


def render_page(form: Form, *, is_framed: bool) -> Reply[WebDocument]:
    """Return the page. The script renders the form; the markup is what browsers without scripts show."""
    script = form_script()
    if script is None:
        return scripts_missing()
    content = _template("form.html").format(
        name=escape(form.name),
        description=escape(form.description),
        slug=escape(form.slug),
        version=script.version,
        kind="frame" if is_framed else "page",
    )
    policy = _policy(form.branding, _FRAMED if is_framed else _NEVER_FRAMED)
    return Reply(WebDocument(content.encode(), policy=policy), headers=_HEADERS)


def render_not_found() -> Reply[WebDocument]:
    policy = f"default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors {_FRAMED}"
    return Reply(WebDocument(_template("missing.html").encode(), policy=policy), status=404, headers=_HEADERS)


def _policy(branding: dict[str, object], ancestors: str) -> str:
    """Allow only the script, its requests and the logo."""
    images = ["'self'", "data:", *policy_sources(branding.get("logo_url"))]
    return (
        f"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        f"img-src {' '.join(images)}; base-uri 'none'; form-action 'none'; frame-ancestors {ancestors}"
    )


@cache
def _template(name: str) -> str:
    return resources.files("retinue.forms.pages").joinpath("assets", name).read_text("utf-8")
