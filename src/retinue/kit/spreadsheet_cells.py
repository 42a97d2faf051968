"""Text in files that spreadsheets open."""

import re

# Text that a spreadsheet would run as a formula, or that becomes one when our apostrophe is removed.
_FORMULA = re.compile(r"'*[=+\-@\t\r]")


def escape_formula(text: str) -> str:
    """Prefix text that a spreadsheet would run as a formula with an apostrophe; imports remove it."""
    return f"'{text}" if _FORMULA.match(text) else text
