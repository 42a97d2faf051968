"""Detection of a text's encoding: Unicode if valid, else charset-normalizer's best guess."""

import codecs
import io

from .sections import DocumentRefused, EncodingUnknown

_BLOCK_BYTES = 1 << 20
_SAMPLE_BYTES = 64 * 1024
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_UTF7_MARKS = (b"+/v8", b"+/v9", b"+/v+", b"+/v/")
# Loaded before the lockdown; without UTF-7, which hides markup from every filter.
UNICODE_ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32")
LEGACY_ENCODINGS = (
    *("cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "koi8_r", "mac_roman"),
    *("gb18030", "big5", "shift_jis", "euc_jp", "euc_kr"),
)


def load(*, is_guessing: bool) -> None:
    for name in (*UNICODE_ENCODINGS, *(LEGACY_ENCODINGS if is_guessing else ())):
        codecs.lookup(name)
    if is_guessing:
        import charset_normalizer

        # Some of its tables are loaded with the first guess.
        charset_normalizer.from_bytes("Größe".encode("cp1252") * 20, cp_isolation=["cp1252"])


def open_text(content: bytes, *, is_guessing: bool, newline: str | None) -> io.TextIOWrapper:
    """Open the content as text, decoded while it is read."""
    encoding = detect_encoding(content, is_guessing=is_guessing)
    return io.TextIOWrapper(io.BytesIO(content), encoding=encoding, errors="replace", newline=newline)


def detect_encoding(content: bytes, *, is_guessing: bool) -> str:
    if content.startswith(_UTF7_MARKS):
        raise DocumentRefused(
            "parse_error", "The text is in UTF-7, which is not supported. Save it as UTF-8."
        )
    for mark, name in _BYTE_ORDER_MARKS:
        if content.startswith(mark):
            return name
    # English text in UTF-16 is valid UTF-8 too, so check for UTF-16 first.
    utf16 = _detect_utf16(content[:_SAMPLE_BYTES])
    if utf16:
        return utf16
    if _is_valid(content, "utf-8"):
        return "utf-8"
    if b"\0" in content[:_SAMPLE_BYTES]:
        raise DocumentRefused("parse_error", "The file is not text.")
    if not is_guessing:
        raise EncodingUnknown
    return _guess_encoding(content[:_SAMPLE_BYTES])


def _is_valid(content: bytes, encoding: str) -> bool:
    decoder = codecs.getincrementaldecoder(encoding)()
    view = memoryview(content)
    try:
        for start in range(0, len(content), _BLOCK_BYTES):
            decoder.decode(view[start : start + _BLOCK_BYTES])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _detect_utf16(sample: bytes) -> str | None:
    """Detect UTF-16 without a mark: every other byte is often zero, the rest hardly ever."""
    if len(sample) < 4 or not sample.count(0):
        return None
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    pairs = len(sample) // 2
    if odd > 0.3 * pairs and even < 0.05 * pairs:
        return "utf-16-le"
    if even > 0.3 * pairs and odd < 0.05 * pairs:
        return "utf-16-be"
    return None


def _guess_encoding(sample: bytes) -> str:
    from charset_normalizer import from_bytes

    best = from_bytes(sample, cp_isolation=list(LEGACY_ENCODINGS)).best()
    return best.encoding if best else "cp1252"
