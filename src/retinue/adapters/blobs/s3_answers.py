"""What object storage says in XML: a few named texts, and lists of records of such texts."""

from xml.parsers import expat

import msgspec

from retinue.adapters.blobs.store import StorageUnavailable


class UnreadableAnswer(StorageUnavailable):
    """The file storage answered with something else than its protocol."""


class Answer(msgspec.Struct):
    """`fields` are the texts directly below the root, `records` the elements there that hold texts."""

    root: str = ""
    fields: dict[str, str] = {}
    records: list[tuple[str, dict[str, str]]] = []

    def of(self, kind: str) -> list[dict[str, str]]:
        return [record for name, record in self.records if name == kind]


class _Reader:
    def __init__(self) -> None:
        self.answer = Answer(fields={}, records=[])
        self._path: list[str] = []
        self._text = ""
        self._record: dict[str, str] = {}

    def start(self, name: str, _attributes: dict[str, str]) -> None:
        if not self._path:
            self.answer.root = name
        elif len(self._path) == 1:
            self._record = {}
        self._path.append(name)
        self._text = ""

    def text(self, data: str) -> None:
        self._text += data

    def end(self, name: str) -> None:
        self._path.pop()
        if len(self._path) == 2:
            self._record[name] = self._text.strip()
        elif len(self._path) == 1 and self._record:
            self.answer.records.append((name, self._record))
        elif len(self._path) == 1:
            self.answer.fields[name] = self._text.strip()
        self._text = ""


def read_answer(content: bytes) -> Answer:
    """Without document types: no entity is expanded and nothing is fetched."""
    reader = _Reader()
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = _refuse
    parser.StartElementHandler = lambda name, given: reader.start(name.rpartition(" ")[2], given)
    parser.EndElementHandler = lambda name: reader.end(name.rpartition(" ")[2])
    parser.CharacterDataHandler = reader.text
    try:
        parser.Parse(content, True)
    except expat.ExpatError:
        raise UnreadableAnswer from None
    return reader.answer


def error_code(content: bytes) -> str:
    """The code of a refusal, or nothing where it does not say one."""
    try:
        answer = read_answer(content)
    except UnreadableAnswer:
        return ""
    return answer.fields.get("Code", "") if answer.root == "Error" else ""


def _refuse(*_declared: object) -> None:
    raise UnreadableAnswer
