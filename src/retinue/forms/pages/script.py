"""The script that draws a form, for its own page, a frame, and the pages of others."""

import re
from functools import cache
from importlib import resources

from retinue.kit.http.scripts import Script, join_script, page_style

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
_PIXELS = 16
_REM = re.compile(r"(\d+(?:\.\d+)?)rem\b")


@cache
def script() -> Script:
    own = resources.files("retinue.forms.pages").joinpath("assets", "form.css").read_text("utf-8")
    # In a page of others a rem is whatever that page says.
    style = _REM.sub(lambda size: f"{float(size[1]) * _PIXELS:g}px", page_style().decode() + own)
    return join_script("retinue.forms.pages", "assets", _PARTS, style)
