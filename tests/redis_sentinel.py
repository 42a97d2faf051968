"""Two redis-servers and a sentinel of our own, with passwords and, if asked for, TLS on every connection."""

import socket
import subprocess
import time
from pathlib import Path
from typing import Any

from redis import Redis

from tests.redis_server import BINARY

# The certificates of tests are valid for this address.
HOST = "127.0.0.2"
SERVICE = "limits"
PASSWORD = "of the servers/@"
SENTINEL_PASSWORD = "of-the-sentinel"
_PATIENCE_S = 30


def _free_port() -> int:
    with socket.create_server((HOST, 0)) as probe:
        return int(probe.getsockname()[1])


class RedisProcess:
    """One process with a configuration file, which a sentinel rewrites."""

    def __init__(self, folder: Path, certificate: Path | None, password: str, *, is_sentinel: bool) -> None:
        self.port = _free_port()
        self._config = folder / f"redis-{self.port}.conf"
        self._is_sentinel = is_sentinel
        self._password = password
        self._certificate = certificate
        self._process: subprocess.Popen[str] | None = None
        ports = f"port {self.port}"
        if certificate is not None:
            ports = (
                f"port 0\ntls-port {self.port}\ntls-cert-file {certificate}\ntls-key-file {certificate}\n"
                f"tls-ca-cert-file {certificate}\ntls-auth-clients no\ntls-replication yes"
            )
        self._lines = [f"bind {HOST}", ports, f'requirepass "{password}"', f"dir {folder}"]

    def start(self, *lines: str) -> None:
        self._config.write_text("\n".join([*self._lines, *lines]) + "\n")
        command = [str(BINARY), str(self._config), *(["--sentinel"] if self._is_sentinel else [])]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        self.wait_for(lambda client: client.ping())

    def client(self) -> Redis:
        tls = {"ssl": True, "ssl_ca_certs": str(self._certificate)} if self._certificate else {}
        return Redis(HOST, self.port, password=self._password, decode_responses=True, **tls)

    def wait_for(self, condition: Any) -> None:
        until = time.monotonic() + _PATIENCE_S
        with self.client() as client:
            while time.monotonic() < until:
                try:
                    if condition(client):
                        return
                except Exception:  # noqa: BLE001  not ready yet
                    pass
                time.sleep(0.02)
        raise RuntimeError("Redis is not ready in time")

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


class WatchedRedis:
    """A primary, its replica, and the sentinel that promotes the replica when the primary is gone."""

    def __init__(self, folder: Path, certificate: Path | None = None) -> None:
        def make(password: str, *, is_sentinel: bool = False) -> RedisProcess:
            return RedisProcess(folder, certificate, password, is_sentinel=is_sentinel)

        self.primary, self.replica = make(PASSWORD), make(PASSWORD)
        self.sentinel = make(SENTINEL_PASSWORD, is_sentinel=True)
        # The first sentinel never answers, as one of several may not.
        hosts = f"{HOST}:{_free_port()},{HOST}:{self.sentinel.port}"
        scheme = "redis+sentinel" if certificate is None else "rediss+sentinel"
        login = ":of%20the%20servers%2F%40"
        self.url = f"{scheme}://{login}@{hosts}/{SERVICE}/2?sentinel_password={SENTINEL_PASSWORD}"

    def start(self) -> None:
        # Its connections come from 127.0.0.1, where nothing listens.
        options = ('save ""', "appendonly no", f'masterauth "{PASSWORD}"', f"replica-announce-ip {HOST}")
        self.primary.start(*options)
        self.replica.start(*options, f"replicaof {HOST} {self.primary.port}")
        self.replica.wait_for(lambda client: client.info("replication")["master_link_status"] == "up")
        self.sentinel.start(
            f"sentinel monitor {SERVICE} {HOST} {self.primary.port} 1",
            f'sentinel auth-pass {SERVICE} "{PASSWORD}"',
            f"sentinel down-after-milliseconds {SERVICE} 300",
            f"sentinel failover-timeout {SERVICE} 2000",
        )
        self.sentinel.wait_for(lambda client: len(client.sentinel_slaves(SERVICE)) == 1)

    def stop(self) -> None:
        for process in (self.sentinel, self.replica, self.primary):
            process.kill()
