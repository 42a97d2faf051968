"""Characters as readers see them: letters with accents, emoji of several code points, flags."""

import unicodedata

# No language stacks more; hostile text does.
_MAX_GRAPHEME_LENGTH = 64
_JOINER = "\u200d"


def grapheme_start(text: str, position: int) -> int:
    """Return the nearest position, at most `position`, at which a cut leaves the characters whole."""
    for start in range(position, max(position - _MAX_GRAPHEME_LENGTH, 0), -1):
        if not _is_inside(text, start):
            return start
    return position


def _is_inside(text: str, position: int) -> bool:
    before, after = text[position - 1], text[position]
    if before == _JOINER or _extends(after):
        return True
    if not (_is_flag_letter(before) and _is_flag_letter(after)):
        return False
    # Two letters make a flag, so it matters how many come before.
    count = 0
    while count < min(position, _MAX_GRAPHEME_LENGTH) and _is_flag_letter(text[position - 1 - count]):
        count += 1
    return count % 2 == 1


def _extends(character: str) -> bool:
    """Return whether it belongs to the character before: an accent, a joiner, a skin tone or a tag."""
    return (
        character == _JOINER
        or unicodedata.category(character)[0] == "M"
        or "\U0001f3fb" <= character <= "\U0001f3ff"
        or "\U000e0020" <= character <= "\U000e007f"
    )


def _is_flag_letter(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"
