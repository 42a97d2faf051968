"""Inside a sandbox of its own: one Python function that came with packages."""

import site
import sys

from . import calling, function

PACKAGES = "/packages"


def main() -> None:
    site.addsitedir(PACKAGES)
    request = calling.request()
    text = function.answer(request["source"], request["input"])
    sys.stdout.flush()
    sys.stderr.flush()
    calling.reply(text)
