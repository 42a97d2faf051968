"""Which paragraph styles of a Word document are headings, whatever language they are named in."""

import re
from typing import NamedTuple

from .word_names import ELEMENTS, attribute

_HEADING_NAME = re.compile(r"heading ([1-9])$")
_DEEPEST = 20
TITLE_LEVEL, BODY_LEVEL = 0, 10


class Style(NamedTuple):
    name: str = ""
    based_on: str = ""
    level: int | None = None


class Styles:
    """Listens to styles.xml."""

    def __init__(self) -> None:
        self._styles: dict[str, Style] = {}
        self._id = ""

    def level(self, style_id: str) -> int:
        """0 for the title, 1 to 9 for headings, 10 for text."""
        for _ in range(_DEEPEST):
            style = self._styles.get(style_id)
            if style is None:
                break
            named = _HEADING_NAME.match(style.name)
            if named:
                return int(named[1])
            if style.name == "title":
                return TITLE_LEVEL
            if style.level is not None:
                return style.level
            style_id = style.based_on
        return BODY_LEVEL

    def is_contents(self, style_id: str) -> bool:
        """Whether it is a line of the table of contents, which only repeats the headings."""
        return self._styles.get(style_id, Style()).name.startswith("toc ")

    def is_list_item(self, style_id: str) -> bool:
        return self._styles.get(style_id, Style()).name.startswith(("list bullet", "list number"))

    def start(self, name: str, attributes: dict[str, str]) -> None:
        element = ELEMENTS.get(name)
        if element == "style":
            self._id = attribute(attributes, "styleId")
            self._styles[self._id] = Style()
        elif self._id and element in {"name", "basedOn", "outlineLvl"}:
            value = attribute(attributes, "val")
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
    """Word counts headings from zero and calls text nine."""
    return int(value) + 1 if len(value) == 1 and value in "012345678" else BODY_LEVEL
