"""Splitting of a passage into sentences, list items, table rows and code blocks that can be quoted."""

import re
from collections.abc import Iterator

import msgspec

_MAX_HEADING_LENGTH = 60
# A line at least this long was wrapped; a shorter one ends by itself.
_MIN_WRAPPED_LENGTH = 60
_MIN_WORDS = 2

_BLANK = re.compile(r"\n[ \t]*\n")
_CODE_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_LIST_ITEM = re.compile(r"\s*(?:[-*+•▪●◦\u2013]|\(?\d{1,3}[.)]|\(?[a-zA-Z][.)])\s+(?=\S)")
_TABLE_ROW = re.compile(r"\s*\|.*\|\s*$")
_TABLE_RULE = re.compile(r"[\s|:-]+$")
_MARKDOWN_HEADING = re.compile(r"\s*#{1,6}\s+")
# "column: value", the form in which the table parser writes a row.
_FIELD = re.compile(r"[^\n:]{1,100}: \S")
# Chinese and Japanese sentence ends need no space after them.
_WIDE_ENDS = "\u3002\uff01\uff1f"
_CLOSES = r"[\"'\u201d\u2019\u00bb)\]\u300d\u300f\uff09]*"
_SENTENCE_END = re.compile(rf"(?:[.!?…]+{_CLOSES}\s+|[{_WIDE_ENDS}]+{_CLOSES}\s*)(?=\S)")
_OPENS = re.compile(r"[\"'\u201c\u2018\u00ab(\[¿¡]*[^\W_]")
# German ordinals: "am 3. März", "im 2. Stock".
_AFTER_ORDINAL = re.compile(
    r"Jan|Feb|März|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez|Stock|Etage|Klasse|Quartal|Halbjahr|Semester|Jahrhundert"
)
_LAST_WORD = re.compile(r"([^\s(\[\"'\u201c\u2018\u00ab]+)$")
_ENDS_SENTENCE = re.compile(rf"[.!?…{_WIDE_ENDS}:;]{_CLOSES}$")

_ABBREVIATED = (
    "mr mrs ms dr prof st jr sr rev hon gen col capt lt sgt no nos vol fig figs sec ch pp p ed eds est "
    "approx ca cf vs viz incl excl dept tel ext bros e.g i.e jan feb mar apr jun jul aug sep sept oct nov "
    "dec mon tue wed thu fri sat sun hr fr frl nr bzw z.b d.h u.a evtl ggf inkl exkl zzgl bspw str abs art "
    "vgl max min mind m mme mlle mm env p.ex sra srta dra ud uds ej pág sig sigg dott ing"
)
_ABBREVIATIONS = frozenset(_ABBREVIATED.split())


class Sentence(msgspec.Struct, frozen=True):
    """A quotable unit; `heading` is the line above it that names its subject, if any."""

    text: str
    heading: str = ""


class _Heading(msgspec.Struct, frozen=True):
    text: str


class _Code(msgspec.Struct, frozen=True):
    """A block of code, quoted with the sentence that introduces it."""

    text: str


TextBlock = list[str] | _Heading | _Code


def sentences_of(passage: str) -> list[Sentence]:
    """Split a passage; headings are attached to what follows and not returned by themselves."""
    sentences: list[Sentence] = []
    heading = ""
    for block in _blocks(passage):
        if isinstance(block, _Heading):
            heading = block.text
        elif isinstance(block, _Code) and sentences and sentences[-1].text.endswith(":"):
            sentences[-1] = Sentence(f"{sentences[-1].text} {block.text}", heading)
        else:
            texts = [block.text] if isinstance(block, _Code) else block
            sentences += [Sentence(text, heading) for text in texts]
    return sentences


def _blocks(passage: str) -> Iterator[TextBlock]:
    for part in _parts(passage):
        lines = [line for line in part.split("\n") if line.strip()]
        if _CODE_FENCE.match(lines[0]):
            code = "; ".join(line.strip() for line in lines if not _CODE_FENCE.match(line))
            yield _Code(code) if code else []
        elif len(lines) > 1 and all(_FIELD.match(line) for line in lines):
            yield ["; ".join(line.strip() for line in lines)]
        else:
            yield from _lines(lines)


def _parts(passage: str) -> Iterator[str]:
    """Split a passage at blank lines, keeping fenced code together."""
    code: list[str] = []
    text: list[str] = []
    for line in passage.split("\n"):
        is_fence = _CODE_FENCE.match(line) is not None
        if code:
            code.append(line)
            if is_fence:
                yield "\n".join(code)
                code = []
        elif is_fence:
            yield from _paragraphs(text)
            code, text = [line], []
        else:
            text.append(line)
    yield from _paragraphs(text)
    if code:
        yield "\n".join(code)


def _paragraphs(lines: list[str]) -> Iterator[str]:
    yield from (part for part in _BLANK.split("\n".join(lines)) if part.strip())


def _lines(lines: list[str]) -> Iterator[TextBlock]:
    """Yield table rows and list items separately, and running text joined and split into sentences."""
    running: list[str] = []
    names: list[str] = []
    for line, follower in zip(lines, [*lines[1:], ""], strict=True):
        is_row = _TABLE_ROW.match(line) is not None
        is_new = is_row or not running or _is_new(running[-1], line)
        if is_new and running:
            yield _split(running)
            running = []
        if is_row:
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            if _TABLE_RULE.match(follower):
                names = cells
            elif not _TABLE_RULE.match(line):
                yield [_row(names, cells)]
        elif is_new and _is_heading(line, follower):
            yield _Heading(_MARKDOWN_HEADING.sub("", line).strip(" #"))
        else:
            running.append(line)
    yield _split(running)


def _row(names: list[str], cells: list[str]) -> str:
    """Return a row that makes sense alone, in the same form as spreadsheet rows."""
    named = [f"{name}: {cell}" if name else cell for name, cell in zip(names, cells, strict=False) if cell]
    return "; ".join([*named, *(cell for cell in cells[len(names) :] if cell)])


def _is_new(line: str, follower: str) -> bool:
    """Return whether `follower` starts something new instead of continuing the running text."""
    if _LIST_ITEM.match(follower) or _MARKDOWN_HEADING.match(follower):
        return True
    if follower[:1].islower() or follower.startswith("  "):
        return False
    return len(line) < _MIN_WRAPPED_LENGTH or (
        _ENDS_SENTENCE.search(line.rstrip()) is not None and _looks_like_heading(follower)
    )


def _is_heading(line: str, follower: str) -> bool:
    """Return whether a line is a heading; several short lines in a row are not."""
    if _MARKDOWN_HEADING.match(line):
        return True
    return _looks_like_heading(line) and bool(follower) and not _looks_like_heading(follower)


def _looks_like_heading(line: str) -> bool:
    bare = line.strip()
    return (
        len(bare) <= _MAX_HEADING_LENGTH
        and bare[:1].isupper()
        and not _LIST_ITEM.match(line)
        and not _ENDS_SENTENCE.search(bare)
        and not any(map(str.isdigit, bare))
    )


def _split(lines: list[str]) -> list[str]:
    if not lines:
        return []
    text = " ".join(line.strip() for line in lines)
    item = _LIST_ITEM.match(text)
    return split_sentences(text[item.end() :] if item else text)


def split_sentences(text: str) -> list[str]:
    """Split text at sentence ends, but not at abbreviations, initials, decimals or ordinals."""
    sentences: list[str] = []
    start = 0
    for end in _SENTENCE_END.finditer(text):
        # "Yes." means nothing without the sentence that follows.
        is_too_short = len(text[start : end.start()].split()) < _MIN_WORDS
        if _is_end(text, end) and not (is_too_short and end[0][0] in ".!"):
            sentences.append(text[start : end.end()].strip())
            start = end.end()
    sentences.append(text[start:].strip())
    return [sentence for sentence in sentences if any(map(str.isalnum, sentence))]


def _is_end(text: str, end: re.Match[str]) -> bool:
    mark = end[0].rstrip()
    if mark[0] in _WIDE_ENDS:
        return True
    opening = _OPENS.match(text, end.end())
    if opening is None or opening[0][-1].islower():
        return False
    if mark != ".":
        return True
    word = _LAST_WORD.search(text, 0, end.start())
    last = word[1].casefold() if word else ""
    is_initial = len(last) == 1 and last.isalpha()
    is_ordinal = last.isdigit() and _AFTER_ORDINAL.match(text, end.end()) is not None
    return not (is_initial or is_ordinal or last in _ABBREVIATIONS)
