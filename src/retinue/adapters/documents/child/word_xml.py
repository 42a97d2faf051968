"""The elements of WordprocessingML with text or structure, in both of its namespaces."""

_WORD = (
    "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
    "http://purl.oclc.org/ooxml/wordprocessingml/main",
)
_MATHS = (
    "http://schemas.openxmlformats.org/officeDocument/2006/math",
    "http://purl.oclc.org/ooxml/officeDocument/math",
)
_COMPATIBILITY = "http://schemas.openxmlformats.org/markup-compatibility/2006"

_WORD_ELEMENTS = (
    "document footnotes endnotes p pPr pStyle outlineLvl numPr t tab br cr noBreakHyphen tbl tr tc "
    "style name basedOn del moveFrom pPrChange"
)
# Deleted or moved text, former properties of paragraphs, and fallbacks for older programs.
SKIPPED_ELEMENTS = {"del", "moveFrom", "pPrChange", "Fallback"}

ELEMENTS: dict[str, str] = {
    **{f"{space} {name}": name for space in _WORD for name in _WORD_ELEMENTS.split()},
    **{f"{space} t": "t" for space in _MATHS},
    f"{_COMPATIBILITY} Fallback": "Fallback",
}


def find_attribute(attributes: dict[str, str], name: str) -> str:
    return next((attributes[f"{space} {name}"] for space in _WORD if f"{space} {name}" in attributes), "")
