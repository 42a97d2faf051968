"""A form's own page: a frame around the script that draws it, alone or inside someone else's page."""

from functools import cache
from html import escape
from importlib import resources
from urllib.parse import urlsplit

from retinue.forms.models import Form
from retinue.forms.pages.script import script
from retinue.kit.http.replies import Document, Reply

_NEVER_FRAMED, _FRAMED = "'none'", "*"
_HEADERS = (("Cache-Control", "no-cache"),)


def page(form: Form, *, is_framed: bool) -> Reply[Document]:
    """What is drawn comes from the public form; here is what a browser shows without any script."""
    content = _template("form.html").format(
        name=escape(form.name),
        description=escape(form.description),
        slug=escape(form.slug),
        version=script().version,
        kind="frame" if is_framed else "page",
    )
    policy = _policy(form.branding, _FRAMED if is_framed else _NEVER_FRAMED)
    return Reply(Document(content.encode(), policy=policy), headers=_HEADERS)


def missing() -> Reply[Document]:
    policy = f"default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors {_FRAMED}"
    return Reply(Document(_template("missing.html").encode(), policy=policy), status=404, headers=_HEADERS)


def _policy(branding: dict[str, object], ancestors: str) -> str:
    """Nothing but the script, its calls, and the logo."""
    images = ["'self'", "data:", *_origin_of(branding.get("logo_url"))]
    return (
        f"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        f"img-src {' '.join(images)}; base-uri 'none'; form-action 'none'; frame-ancestors {ancestors}"
    )


def _origin_of(url: object) -> list[str]:
    """The place of a logo as a policy can say it; a path is of this server."""
    if not isinstance(url, str) or not url.startswith(("http://", "https://")):
        return []
    parts = urlsplit(url)
    # A policy has no words for an IPv6 address, and its own punctuation in a host would end the rule.
    if not all(one.isalnum() or one in ".-:_" for one in parts.netloc):
        return []
    try:
        return [f"{parts.scheme}://{parts.netloc.encode('idna').decode()}"]
    except UnicodeError:
        return []


@cache
def _template(name: str) -> str:
    return resources.files("retinue.forms.pages").joinpath("assets", name).read_text("utf-8")
