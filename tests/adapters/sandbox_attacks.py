"""Attempts to get out of a Python sandbox; each returns something only if it worked.

They are sent as text, one by one, so each imports what it needs.
"""

import inspect
from collections.abc import Callable
from typing import Any

Given = dict[str, Any]
ATTACKS: dict[str, Callable[[Given], Any]] = {}

_MAIN = """

def main(input):
    try:
        got = {name}(input)
    except BaseException as error:
        return {{"blocked": repr(error)}}
    return {{"escaped": repr(got)}} if got else {{"blocked": "in vain"}}
"""


def attack(function: Callable[[Given], Any]) -> Callable[[Given], Any]:
    ATTACKS[function.__name__] = function
    return function


def source_of(name: str) -> str:
    text = inspect.getsource(ATTACKS[name]).removeprefix("@attack\n")
    return text.replace(": Given", "") + _MAIN.format(name=name)


@attack
def reads_environment(given: Given):
    import os

    return given["canary"] in repr(dict(os.environ)) or set(os.environ) - {
        *("PATH", "HOME", "LANG", "PWD", "LC_CTYPE", "LD_LIBRARY_PATH", "PYTHONPATH"),
        *("PYTHONHOME", "PYTHONUNBUFFERED"),
    }


@attack
def reads_environment_of_process_1(given: Given):
    from pathlib import Path

    return Path("/proc/1/environ").read_bytes()


@attack
def reads_own_environment_file(given: Given):
    from pathlib import Path

    return given["canary"].encode() in Path("/proc/self/environ").read_bytes()


@attack
def reads_environment_of_the_server(given: Given):
    from pathlib import Path

    return Path(f"/proc/{given['server']}/environ").read_bytes()


@attack
def reads_memory_of_the_server(given: Given):
    from pathlib import Path

    return Path(f"/proc/{given['server']}/maps").read_text()


@attack
def sees_other_processes(given: Given):
    """In a sandbox of its own there are at most the shell, bubblewrap and this."""
    from pathlib import Path

    return len([entry for entry in Path("/proc").iterdir() if entry.name.isdigit()]) > 3


@attack
def reads_shadow(given: Given):
    from pathlib import Path

    return Path("/etc/shadow").read_text()


@attack
def reads_passwd(given: Given):
    from pathlib import Path

    return Path("/etc/passwd").read_text()


@attack
def reads_the_data_dir(given: Given):
    from pathlib import Path

    return Path(given["data_file"]).read_text()


@attack
def reads_the_application(given: Given):
    from pathlib import Path

    return Path(given["app_file"]).read_text()


@attack
def imports_what_the_application_uses(given: Given):
    import msgspec

    return msgspec.__file__


@attack
def imports_what_is_installed_into_the_interpreter(given: Given):
    import pip

    return pip.__file__


@attack
def follows_a_symbolic_link_out(given: Given):
    from pathlib import Path

    Path("/tmp/link").symlink_to(given["data_file"])
    return Path("/tmp/link").read_text()


@attack
def climbs_out_of_the_root(given: Given):
    from pathlib import Path

    return Path("/../../../../.." + given["data_file"]).read_text()


@attack
def writes_beside_its_folder(given: Given):
    import os
    import sys

    written = []
    for folder in (
        "/",
        "/usr",
        "/etc",
        "/dev",
        "/guest",
        "/packages",
        "/proc",
        sys.prefix,
        given["data_file"] + ".d",
    ):
        try:
            os.close(os.open(f"{folder}/attack", os.O_CREAT | os.O_WRONLY))
            written.append(folder)
        except OSError:
            pass
    return written


@attack
def connects_to_loopback(given: Given):
    import socket

    return socket.create_connection(("127.0.0.1", given["tcp"]), 1)


@attack
def connects_to_the_database(given: Given):
    import socket

    return socket.create_connection(("127.0.0.1", 5432), 1)


@attack
def connects_to_the_metadata_service(given: Given):
    import socket

    return socket.create_connection(("169.254.169.254", 80), 0.5)


@attack
def sends_a_datagram(given: Given):
    import socket

    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"out", ("127.0.0.1", given["udp"]))


@attack
def resolves_a_name(given: Given):
    import socket

    found = [address[0] for *_, address in socket.getaddrinfo("example.com", 80)]
    return [address for address in found if address != "example.com"]


@attack
def connects_to_a_unix_socket(given: Given):
    import socket

    client = socket.socket(socket.AF_UNIX)
    client.connect(given["unix"])
    return client


@attack
def connects_to_an_abstract_socket(given: Given):
    import socket

    client = socket.socket(socket.AF_UNIX)
    client.connect("\0" + given["abstract"])
    return client


@attack
def opens_a_strange_socket(given: Given):
    """Netlink, packet, kernel crypto, vsock, XDP, Bluetooth."""
    import contextlib
    import socket

    opened = []
    for family in (16, 17, 38, 40, 44, 31):
        with contextlib.suppress(OSError):
            opened.append((family, socket.socket(family, socket.SOCK_RAW)))
    return opened


@attack
def traces(given: Given):
    import ctypes

    libc = ctypes.CDLL(None)
    return libc.ptrace(0, 0, 0, 0) == 0 or libc.ptrace(16, 1, 0, 0) == 0


@attack
def becomes_root(given: Given):
    import os

    os.setuid(0)
    return True


@attack
def mounts(given: Given):
    import ctypes

    return ctypes.CDLL(None).mount(b"none", b"/tmp", b"tmpfs", 0, None) == 0


@attack
def opens_namespaces(given: Given):
    import ctypes

    libc = ctypes.CDLL(None)
    return [flag for flag in (0x10000000, 0x20000, 0x40000000, 0x20000000) if libc.unshare(flag) == 0]


@attack
def opens_a_namespace_by_clone(given: Given):
    import ctypes
    import platform

    number = {"x86_64": 56, "aarch64": 220}[platform.machine()]
    pid = ctypes.CDLL(None).syscall(number, 0x10000000 | 17, 0, 0, 0, 0)
    return pid >= 0


@attack
def reads_devices(given: Given):
    import contextlib
    import os

    found = []
    for name in ("mem", "kmsg", "port", "vda", "sda", "nvme0n1", "fuse", "kvm", "tty", "console", "ptmx"):
        with contextlib.suppress(OSError):
            found.append((name, os.open(f"/dev/{name}", os.O_RDONLY)))
    return found


@attack
def makes_a_device(given: Given):
    import os
    import stat

    os.mknod("/tmp/mem", 0o666 | stat.S_IFCHR, os.makedev(1, 1))
    return True


@attack
def signals_the_server(given: Given):
    import os

    os.kill(given["server"], 0)
    return True


@attack
def signals_everything(given: Given):
    """Kills every process it may signal; inside a sandbox there is none but its own."""
    import os
    import signal

    os.kill(-1, signal.SIGKILL)


@attack
def signals_by_a_descriptor(given: Given):
    import fcntl
    import os

    fcntl.fcntl(os.pipe()[0], fcntl.F_SETOWN, given["server"])
    return True


@attack
def keeps_descriptors_of_the_server(given: Given):
    """Input, output, errors, request and result; what the list itself opens comes on top."""
    import os

    def is_open(number):
        try:
            os.fstat(number)
        except OSError:
            return False
        return True

    return [number for number in range(5, 256) if is_open(number)]


@attack
def changes_its_request(given: Given):
    import os

    return os.pwrite(3, b"other", 0)
