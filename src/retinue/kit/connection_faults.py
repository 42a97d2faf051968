"""Why a service could not be reached, in words for the operator who set its address."""

import errno
import re
import socket
import ssl
from collections.abc import Iterator
from urllib.parse import urlsplit

_ERRNO = re.compile(r"\[Errno (-?\d+)\]")
_REASONS = {
    errno.ECONNREFUSED: "it refused the connection, so nothing listens there or a firewall is between",
    errno.ECONNRESET: "it closed the connection",
    errno.EPIPE: "it closed the connection",
    errno.EHOSTUNREACH: "there is no network route to it",
    errno.ENETUNREACH: "there is no network route to it",
    errno.ENOENT: "there is no such socket",
    errno.EACCES: "this process may not open its socket",
    errno.ETIMEDOUT: "it did not answer in time",
}


def describe_fault(error: BaseException) -> str:
    """Return the reason as the end of a sentence; a server's own words are not repeated."""
    for cause in _causes(error):
        if isinstance(cause, ssl.SSLCertVerificationError):
            return f"its TLS certificate is not valid ({cause.verify_message})"
        if isinstance(cause, ssl.SSLError):
            return f"TLS failed ({cause.reason or 'the handshake broke off'})"
        if isinstance(cause, socket.gaierror):
            is_unknown = cause.errno in {socket.EAI_NONAME, getattr(socket, "EAI_NODATA", None)}
            return "there is no host of this name" if is_unknown else "the name of the host was not found"
        if isinstance(cause, TimeoutError) and cause.errno is None:
            return _REASONS[errno.ETIMEDOUT]
        if isinstance(cause, OSError) and (reason := _reason_of(cause)):
            return reason
    return f"the connection failed ({type(error).__name__})"


def _reason_of(error: OSError) -> str | None:
    """Return the reason of a number; several addresses of one host fail with one text for all of them."""
    numbers = [error.errno] if error.errno is not None else [int(one) for one in _ERRNO.findall(str(error))]
    return next((_REASONS[number] for number in numbers if number in _REASONS), None)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def shown_address(url: str, default_port: int) -> str:
    """Return host and port of a URL, which never show its user or password."""
    authority = urlsplit(url).netloc
    if "@" in urlsplit(url).path:
        # A password with a slash that is not encoded: what looks like the host is a part of it.
        return "an address that cannot be read"
    location = authority.rpartition("@")[2]
    if not location:
        return "a socket of this machine"
    has_port = re.search(r":\d+\Z", location) is not None
    return location if has_port or "," in location else f"{location}:{default_port}"
