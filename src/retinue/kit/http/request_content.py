"""The content of a request, read within its limits before a transaction begins."""

import hashlib
from pathlib import Path
from typing import Any

import msgspec

from retinue.kit.errors import FileTooLarge, Invalid, InvalidJson, UnsupportedMediaType
from retinue.kit.http.bodies import check_json_shape, read_body
from retinue.kit.http.request import Request
from retinue.kit.http.routing import Route, Upload
from retinue.kit.http.uploads import FileLimit, FormData, read_form, readable_size
from retinue.kit.schema.validation import field_errors


class RequestContent:
    __slots__ = ("body", "form")

    def __init__(self, body: bytes = b"", form: FormData | None = None) -> None:
        self.body = body
        self.form = form

    @property
    def digest(self) -> str:
        return self.form.body_sha256 if self.form else hashlib.sha256(self.body).hexdigest()

    def discard(self) -> None:
        if self.form is not None:
            self.form.discard()


_EMPTY = RequestContent()
_MAX_LENGTH_DIGITS = 15
_SEND_JSON = "The body must be JSON. Send it with the header `Content-Type: application/json`."
_FORM = b"application/x-www-form-urlencoded"
_BODY_METHODS = frozenset({"POST", "PUT", "PATCH"})
_JSON_BLANKS = b" \t\r\n"
_JSON_FIRST_BYTES = frozenset({b"{", b"[", b""})


async def receive_form(request: Request, upload: Upload, limit: FileLimit, spool_dir: Path) -> RequestContent:
    max_total = upload.total_bytes(limit.max_bytes)
    declared = request.headers.get(b"content-length", b"")
    if declared.isdigit() and (len(declared) > _MAX_LENGTH_DIGITS or int(declared) > max_total):
        raise FileTooLarge(f"A file may have at most {readable_size(limit.max_bytes)} here.")
    form = await read_form(
        request.receive,
        _content_type(request) or b"",
        spool_dir=spool_dir,
        max_total=max_total,
        max_file=limit,
        max_files=upload.max_files,
        lists=upload.lists,
    )
    return RequestContent(form=form)


async def receive_body(request: Request, route: Route) -> RequestContent:
    content_type = _content_type(request)
    if route.body is None:
        is_read_here = not route.reads_body and route.method in _BODY_METHODS and _has_body(request)
        return await _receive_needless_body(request, route) if is_read_here else _EMPTY
    is_labelled_json = content_type is None or _is_json(content_type)
    if not is_labelled_json and not _may_be_mislabelled(request, route):
        raise UnsupportedMediaType(_SEND_JSON)
    body = await read_body(request.receive, route.body_limit, request.headers.get(b"content-length"))
    if not is_labelled_json and body.lstrip(_JSON_BLANKS)[:1] not in _JSON_FIRST_BYTES:
        raise UnsupportedMediaType(_SEND_JSON)
    return RequestContent(body or b"{}")


def _has_body(request: Request) -> bool:
    return request.headers.get(b"content-length", b"0") != b"0" or b"transfer-encoding" in request.headers


async def _receive_needless_body(request: Request, route: Route) -> RequestContent:
    """Receive a body that the operation does not take, so that the caller hears that it had no effect."""
    return RequestContent(
        await read_body(request.receive, route.body_limit, request.headers.get(b"content-length"))
    )


def _may_be_mislabelled(request: Request, route: Route) -> bool:
    """Return whether the body may be JSON from `curl -d`, which labels every body as a form."""
    # CSRF: a page of another site can post such a body without a preflight. A browser then sends `Origin`,
    # and the label is enforced. Routes that read or set a session cookie always enforce it.
    is_from_browser = b"origin" in request.headers or b"sec-fetch-site" in request.headers
    if route.refuses_form_label or is_from_browser:
        return False
    return _media_type(request.headers.get(b"content-type", b"")) == _FORM


def _content_type(request: Request) -> bytes | None:
    """Return the declared content type; refuse more than one."""
    headers = request.scope["headers"]
    if len(headers) > len(request.headers) and sum(name == b"content-type" for name, _ in headers) > 1:
        raise UnsupportedMediaType("Send exactly one Content-Type header.")
    return request.headers.get(b"content-type")


def _media_type(content_type: bytes) -> bytes:
    return content_type.partition(b";")[0].strip().lower()


def _is_json(content_type: bytes) -> bool:
    media_type = _media_type(content_type)
    return media_type == b"application/json" or media_type.endswith(b"+json")


def decode_query(request: Request, target: Any) -> Any:
    raw = request.query() if request.query_string else {}
    try:
        query = msgspec.convert(raw, target, strict=False)
    except msgspec.ValidationError as error:
        raise Invalid(field_errors(error, raw, target, strict=False)) from error
    # Lenient conversion reads the text `null` as None, which would silently drop a filter.
    names = zip(target.__struct_encode_fields__, target.__struct_fields__, strict=True)
    dropped = [sent for sent, name in names if sent in raw and getattr(query, name) is None]
    if dropped:
        raise Invalid(dict.fromkeys(dropped, "must not be null"))
    return query


def decode_body(route: Route, body: bytes) -> Any:
    check_json_shape(body, max_keys=route.max_keys)
    try:
        return route.body_decoder(body)
    except msgspec.ValidationError as error:
        raise Invalid(field_errors(error, _decoded(body), route.body)) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidJson from error


def _decoded(body: bytes) -> Any:
    try:
        return msgspec.json.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidJson from error
