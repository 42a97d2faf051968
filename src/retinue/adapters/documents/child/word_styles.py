"""Detection of heading styles in a Word document, independent of its language."""

import re
from typing import NamedTuple

from .word_xml import ELEMENTS, find_attribute

_HEADING_NAME = re.compile(r"heading ([1-9])$")
_MAX_STYLE_DEPTH = 20
TITLE_LEVEL, BODY_LEVEL = 0, 10


class WordStyle(NamedTuple):
    name: str = ""
    based_on: str = ""
    level: int | None = None


class WordStyles:
    """XML handler for styles.xml."""

    def __init__(self) -> None:
        self._styles: dict[str, WordStyle] = {}
        self._id = ""

    def level(self, style_id: str) -> int:
        """Return 0 for the title, 1 to 9 for headings, 10 for text."""
        for _ in range(_MAX_STYLE_DEPTH):
            style = self._styles.get(style_id)
            if style is None:
                break
            match = _HEADING_NAME.match(style.name)
            if match:
                return int(match[1])
            if style.name == "title":
                return TITLE_LEVEL
            if style.level is not None:
                return style.level
            style_id = style.based_on
        return BODY_LEVEL

    def is_contents(self, style_id: str) -> bool:
        """Return whether a style is for the table of contents, which only repeats the headings."""
        return self._styles.get(style_id, WordStyle()).name.startswith("toc ")

    def is_list_item(self, style_id: str) -> bool:
        return self._styles.get(style_id, WordStyle()).name.startswith(("list bullet", "list number"))

    def start(self, name: str, attributes: dict[str, str]) -> None:
        element = ELEMENTS.get(name)
        if element == "style":
            self._id = find_attribute(attributes, "styleId")
            self._styles[self._id] = WordStyle()
        elif self._id and element in {"name", "basedOn", "outlineLvl"}:
            value = find_attribute(attributes, "val")
            style = self._styles[self._id]
            if element == "name":
                style = style._replace(name=value.lower())
            elif element == "basedOn":
                style = style._replace(based_on=value)
            else:
                style = style._replace(level=outline_level(value))
            self._styles[self._id] = style

    def end(self, name: str) -> None:
        if ELEMENTS.get(name) == "style":
            self._id = ""

    def text(self, data: str) -> None: ...


def outline_level(value: str) -> int:
    """Convert Word's outline level, which counts headings from 0 and uses 9 for text."""
    return int(value) + 1 if len(value) == 1 and value in "012345678" else BODY_LEVEL
