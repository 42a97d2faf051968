"""The script that renders a form: on its own page, in a frame and on other sites."""

from retinue.kit.http.page_scripts import PageScript, find_script


def form_script() -> PageScript | None:
    """Return the script, or None if it is not built; its sources are in `console/packages/form`."""
    return find_script("form.js")
