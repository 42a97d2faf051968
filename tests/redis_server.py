"""A redis-server of our own, which can be killed and emptied without asking anyone."""

import shutil
import socket
import subprocess

import pytest

BINARY = shutil.which("redis-server")


class RedisServer:
    """On a free loopback port, with nothing on disk."""

    def __init__(self):
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self.port = probe.getsockname()[1]
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self.process = None

    def start(self):
        options = ["--bind", "127.0.0.1", "--port", str(self.port), "--save", "", "--appendonly", "no"]
        self.process = subprocess.Popen([BINARY, *options], stdout=subprocess.PIPE, text=True)
        for line in self.process.stdout:
            if "Ready to accept connections" in line:
                return
        raise RuntimeError("redis-server ended before it was ready")

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


own_server = pytest.mark.skipif(BINARY is None, reason="only a redis-server of our own can be killed")
