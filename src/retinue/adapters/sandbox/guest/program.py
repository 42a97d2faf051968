"""Runs one Python function with packages, inside its own sandbox."""

import site
import sys

from . import call_io, function

PACKAGES = "/packages"


def main() -> None:
    site.addsitedir(PACKAGES)
    request = call_io.request()
    text = function.answer(request["source"], request["input"])
    sys.stdout.flush()
    sys.stderr.flush()
    call_io.reply(text)
