"""The paragraphs, headings and tables of a Word document in reading order."""

from typing import NamedTuple

from .sections import DocumentRefused
from .word_styles import BODY_LEVEL, WordStyles, outline_level
from .word_xml import ELEMENTS, SKIPPED_ELEMENTS, find_attribute

_ROOTS = {"document", "footnotes", "endnotes"}
_ELEMENT_TEXT = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
_MAX_HEADING_LENGTH = 300


class WordBlock(NamedTuple):
    """A paragraph or a table row; a level below ten makes it a heading."""

    text: str
    level: int = BODY_LEVEL


class _Paragraph:
    def __init__(self) -> None:
        self.parts: list[str] = []
        self.style = ""
        self.level: int | None = None
        self.is_list_item = False


class WordBody:
    """XML handler for document.xml, footnotes.xml or endnotes.xml; `take_blocks` returns what is complete."""

    def __init__(self, styles: WordStyles) -> None:
        self._styles = styles
        self._blocks: list[WordBlock] = []
        self._paragraphs: list[_Paragraph] = []
        # The cells of the current row of each open table, each cell a list of lines.
        self._tables: list[list[list[str]]] = []
        self._skipped_depth = 0
        self._has_root = self._is_text = self._is_in_properties = False

    def take_blocks(self) -> list[WordBlock]:
        blocks, self._blocks = self._blocks, []
        return blocks

    def start(self, name: str, attributes: dict[str, str]) -> None:
        element = ELEMENTS.get(name)
        if not self._has_root:
            if element not in _ROOTS:
                raise DocumentRefused(
                    "parse_error", "The file is not a Word document, although its extension is .docx."
                )
            self._has_root = True
        if self._skipped_depth or element in SKIPPED_ELEMENTS:
            self._skipped_depth += 1
        elif element == "p":
            self._paragraphs.append(_Paragraph())
        elif element == "t":
            self._is_text = True
        elif element == "pPr":
            self._is_in_properties = True
        elif element in {"tbl", "tr", "tc"}:
            self._open_table(element)
        elif element and self._paragraphs:
            self._describe(self._paragraphs[-1], element, attributes)

    def end(self, name: str) -> None:
        if self._skipped_depth:
            self._skipped_depth -= 1
            return
        element = ELEMENTS.get(name)
        if element == "p":
            self._end_paragraph(self._paragraphs.pop())
        elif element == "t":
            self._is_text = False
        elif element == "pPr":
            self._is_in_properties = False
        elif element == "tr" and self._tables:
            self._end_row()
        elif element == "tbl":
            self._tables.pop()
            self._emit("\n", BODY_LEVEL)

    def text(self, data: str) -> None:
        if self._is_text and not self._skipped_depth and self._paragraphs:
            self._paragraphs[-1].parts.append(data)

    def _open_table(self, element: str) -> None:
        if element == "tbl":
            self._emit("\n", BODY_LEVEL)
            self._tables.append([])
        elif self._tables and element == "tr":
            self._tables[-1] = []
        elif self._tables:
            self._tables[-1].append([])

    def _describe(self, paragraph: _Paragraph, element: str, attributes: dict[str, str]) -> None:
        if not self._is_in_properties:
            paragraph.parts.append(_ELEMENT_TEXT.get(element, ""))
        elif element == "pStyle":
            paragraph.style = find_attribute(attributes, "val")
        elif element == "outlineLvl":
            paragraph.level = outline_level(find_attribute(attributes, "val"))
        elif element == "numPr":
            paragraph.is_list_item = True

    def _end_paragraph(self, paragraph: _Paragraph) -> None:
        text = "".join(paragraph.parts).strip()
        if not text or self._styles.is_contents(paragraph.style):
            return
        level = self._styles.level(paragraph.style) if paragraph.level is None else paragraph.level
        if level < BODY_LEVEL and len(text) <= _MAX_HEADING_LENGTH and not self._tables:
            self._emit(text, level)
        elif paragraph.is_list_item or self._styles.is_list_item(paragraph.style):
            self._emit(f"- {text}\n", BODY_LEVEL)
        else:
            self._emit(f"{text}\n\n", BODY_LEVEL)

    def _end_row(self) -> None:
        cells = [" ".join("".join(cell).split()) for cell in self._tables[-1]]
        self._tables[-1] = []
        # A row belongs to the cell around its table, if any, so it is emitted outside its own table.
        table = self._tables.pop()
        if any(cells):
            self._emit(" | ".join(cells) + "\n", BODY_LEVEL)
        self._tables.append(table)

    def _emit(self, text: str, level: int) -> None:
        if self._tables and self._tables[-1]:
            self._tables[-1][-1].append(text)
        else:
            self._blocks.append(WordBlock(text, level))
