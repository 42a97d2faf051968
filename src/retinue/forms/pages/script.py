"""The script that renders a form: on its own page, in a frame and on other sites."""

import re
from functools import cache
from importlib import resources

from retinue.kit.http.page_scripts import PageScript, join_script, page_style

_PARTS = (
    "conditions.js",
    "server.js",
    "proof.js",
    "fields.js",
    "choices.js",
    "signature.js",
    "files.js",
    "saving.js",
    "form.js",
    "conversation.js",
    "element.js",
    "start.js",
)
_PIXELS_PER_REM = 16
_REM = re.compile(r"(\d+(?:\.\d+)?)rem\b")


@cache
def form_script() -> PageScript:
    own = resources.files("retinue.forms.pages").joinpath("assets", "form.css").read_text("utf-8")
    # On other sites, the size of a rem is up to the site.
    style = _REM.sub(lambda size: f"{float(size[1]) * _PIXELS_PER_REM:g}px", page_style().decode() + own)
    return join_script("retinue.forms.pages", "assets", _PARTS, style)
