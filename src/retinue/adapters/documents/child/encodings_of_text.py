"""Which encoding a text is in: Unicode if it can be, else what charset-normalizer finds most plausible."""

import codecs
import io

from .sections import EncodingUnknown, Refusal

_BLOCK = 1 << 20
_SAMPLE = 64 * 1024
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_UTF7_MARKS = (b"+/v8", b"+/v9", b"+/v+", b"+/v/")
# Loaded before the process gives up files; UTF-7 is not among them, for it hides markup from every filter.
UNICODE = ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32")
GUESSED = (
    *("cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "koi8_r", "mac_roman"),
    *("gb18030", "big5", "shift_jis", "euc_jp", "euc_kr"),
)


def load(*, is_guessing: bool) -> None:
    for name in (*UNICODE, *(GUESSED if is_guessing else ())):
        codecs.lookup(name)
    if is_guessing:
        import charset_normalizer

        # Some of its tables are loaded with the first guess.
        charset_normalizer.from_bytes("Größe".encode("cp1252") * 20, cp_isolation=["cp1252"])


def opened(content: bytes, *, is_guessing: bool, newline: str | None) -> io.TextIOWrapper:
    """The text, decoded as it is read."""
    encoding = encoding_of(content, is_guessing=is_guessing)
    return io.TextIOWrapper(io.BytesIO(content), encoding=encoding, errors="replace", newline=newline)


def encoding_of(content: bytes, *, is_guessing: bool) -> str:
    if content.startswith(_UTF7_MARKS):
        raise Refusal("parse_error", "The text is in UTF-7, which is not read; save it as UTF-8.")
    for mark, name in _MARKS:
        if content.startswith(mark):
            return name
    # The letters of English in UTF-16 are valid UTF-8 too, so it is looked for first.
    wide = _wide(content[:_SAMPLE])
    if wide:
        return wide
    if _is_valid(content, "utf-8"):
        return "utf-8"
    if b"\0" in content[:_SAMPLE]:
        raise Refusal("parse_error", "The file is not a text.")
    if not is_guessing:
        raise EncodingUnknown
    return _guessed(content[:_SAMPLE])


def _is_valid(content: bytes, encoding: str) -> bool:
    decoder = codecs.getincrementaldecoder(encoding)()
    view = memoryview(content)
    try:
        for start in range(0, len(content), _BLOCK):
            decoder.decode(view[start : start + _BLOCK])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _wide(sample: bytes) -> str | None:
    """UTF-16 without its mark: of its bytes every other one is often zero, and the rest hardly ever."""
    if len(sample) < 4 or not sample.count(0):
        return None
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    most = len(sample) // 2
    if odd > 0.3 * most and even < 0.05 * most:
        return "utf-16-le"
    if even > 0.3 * most and odd < 0.05 * most:
        return "utf-16-be"
    return None


def _guessed(sample: bytes) -> str:
    from charset_normalizer import from_bytes

    best = from_bytes(sample, cp_isolation=list(GUESSED)).best()
    return best.encoding if best else "cp1252"
