"""Does what a newcomer does up to the first chat, speech included, with the Pythons of this machine.

`first_chat.py clone`: a clean clone, `make run`, the printed password, curl.
`first_chat.py wheel`: the built wheel, installed unpinned into an empty environment: first without extras,
where a chat must name the one that is missing, then with all, and then the same. Each Python builds the wheel
again, and all wheels must have the same bytes.
`first_chat.py both`: one after the other; the wheel is built in the clone that has run, with its console.
Pythons may be named after that; by default they are Debian's own and the newest one found.
"""

import hashlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from pythons import SYSTEM, Python, installed, probe

ROOT = Path(__file__).resolve().parent.parent
MODELS = os.environ.get("RETINUE_MODELS_DIR") or str(ROOT / ".cache" / "models")
# `make run` installs first, and a package index or a shared machine may be slow.
START_SECONDS = 900
STOP_SECONDS = 30
MAX_LOG_SHOWN = 6000
CURL = ("curl", "-sS", "--fail-with-body", "--max-time", "120")
AGENT = {
    "name": "Shop",
    "primary_model": "local/smollm2-135m",
    "system_prompt": "You answer questions about the shop in one short sentence.",
    "temperature": 0,
}
MISSING_EXTRA = "pip install 'retinue[local]'"
QUESTION = "When does the shop open?"
_EMAIL = re.compile(r"^First administrator: (\S+)$", re.MULTILINE)
_PASSWORD = re.compile(r"^Password \(shown once\): (\S+)$", re.MULTILINE)
# Of journeys under way: whoever ends this script ends and removes them too.
_process_groups: set[int] = set()
_folders: set[Path] = set()
_NOT_HANDED_ON = re.compile(r"RETINUE_.*|MAKE.*|MFLAGS|PYTHON.*|VIRTUAL_ENV")


class JourneyError(Exception):
    """A step did not do what a newcomer is promised."""


class Journey:
    """One Python on its way, in a folder of its own; `done` says how far it came."""

    def __init__(self, python: Python, folder: Path) -> None:
        self.python = python
        self.folder = folder
        self.done: list[str] = []
        self.log = folder / "log"
        self.wheel_hash = ""
        self._log_start = 0
        self.port = _free_port()
        self._started = time.monotonic()
        self._environment = {
            name: value for name, value in os.environ.items() if not _NOT_HANDED_ON.fullmatch(name)
        } | {"RETINUE_MODELS_DIR": MODELS}

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._started

    def clone(self) -> Path:
        # A checkout in a container often belongs to somebody else, which git refuses to read.
        settings = self.folder / "gitconfig"
        settings.write_text("[safe]\n\tdirectory = *\n")
        self._environment["GIT_CONFIG_GLOBAL"] = str(settings)
        self.run("git", "clone", "--quiet", ROOT, self.folder / "retinue")
        return self.folder / "retinue"

    def hide_node(self, *, old: bool) -> None:
        """Leave no Node in the PATH, or only one that is too old: the console must be built all the same."""
        programs = self.folder / "programs"
        programs.mkdir()
        for folder in reversed(self._environment["PATH"].split(os.pathsep)):
            for program in Path(folder).glob("*"):
                if program.name not in {"node", "nodejs", "npm", "npx"}:
                    (programs / program.name).unlink(missing_ok=True)
                    (programs / program.name).symlink_to(program)
        if old:
            for name in ("node", "npm"):
                # Debian 12 has Node 18; where this machine has another one, a stand-in says the same.
                stand_in = programs / name
                stand_in.write_text("#!/bin/sh\n[ $1 = --version ] && echo v18.20.4 && exit 0\nexit 1\n")
                stand_in.chmod(0o755)
        self._environment["PATH"] = str(programs)
        self.done.append("has Node 18" if old else "has no Node")

    def run(self, *command: str | Path) -> None:
        with self.log.open("ab") as log:
            code = subprocess.run(  # noqa: S603  commands of this script
                command, cwd=self.folder, env=self._environment, stdout=log, stderr=log, check=False
            ).returncode
        if code:
            raise JourneyError(f"{' '.join(map(str, command))} failed ({code})")

    @contextmanager
    def serving(self, folder: Path, *command: str | Path) -> Iterator[None]:
        """Start the server and wait until it says that it is ready; afterwards it is stopped."""
        with self.log.open("ab") as log:
            self._log_start = log.tell()
            server = subprocess.Popen(  # noqa: S603  a command of this script
                command, cwd=folder, env=self._environment, stdout=log, stderr=log, start_new_session=True
            )
        _process_groups.add(server.pid)
        try:
            self._await_ready(server)
            yield
        finally:
            _stop(server)
            _process_groups.discard(server.pid)

    @property
    def _said(self) -> str:
        """What the running server has said."""
        return self.log.read_bytes()[self._log_start :].decode(errors="replace")

    def _await_ready(self, server: subprocess.Popen[bytes]) -> None:
        until = time.monotonic() + START_SECONDS
        while not _PASSWORD.search(self._said):
            if server.poll() is not None:
                raise JourneyError(f"the server ended by itself ({server.returncode})")
            if time.monotonic() > until:
                raise JourneyError(f"the server was not ready after {START_SECONDS} seconds")
            time.sleep(0.2)

    def talk(self) -> None:
        """Make an agent, chat, and hear and say something."""
        self._require_console()
        token, path = self._agent()
        reply = self._post(path, {"message": "What is the capital of France?"}, token)
        if not reply["message"]["content"].strip():
            raise JourneyError(f"the agent answered nothing: {reply}")
        self.done.append("chatted")
        recording = self.folder / "question.mp3"
        body = json.dumps({"text": QUESTION})
        self._curl(f"{path}/tts", token, "-H", "Content-Type: application/json", "-d", body, "-o", recording)
        self.done.append("spoke")
        heard = json.loads(self._curl(f"{path}/audio", token, "-F", f"audio=@{recording}"))
        if "shop" not in heard["transcription"]["text"].lower():
            raise JourneyError(f"the agent misheard {QUESTION!r}: {heard['transcription']}")
        self.done.append("listened")

    def be_refused(self) -> None:
        """Without extras, a chat with an embedded model names the one that is missing."""
        token, path = self._agent()
        body = json.dumps({"message": "Hello"})
        try:
            self._curl(path, token, "-H", "Content-Type: application/json", "-d", body)
        except JourneyError as refusal:
            if "model_not_configured" not in str(refusal) or MISSING_EXTRA not in str(refusal):
                raise
            self.done.append("named the missing extra")
        else:
            raise JourneyError("an embedded model answered without its extra")

    def _agent(self) -> tuple[str, str]:
        """Sign in with the printed password and make an agent; return the token and the path of its chat."""
        email, password = _EMAIL.search(self._said), _PASSWORD.search(self._said)
        if email is None or password is None:
            raise JourneyError("the server printed no address and password to sign in with")
        token = self._post("/auth/login", {"email": email[1], "password": password[1]})["access_token"]
        self.done.append("signed in")
        return token, f"/api/v1/agents/{self._post('/api/v1/agents', AGENT, token)['id']}/chat"

    def _require_console(self) -> None:
        page = self._curl("/console/", "")
        script = re.search(r'src="(/console/assets/[^"]+\.js)"', page)
        if script is None or not self._curl(script[1], ""):
            raise JourneyError(f"the console has no script: {page[:200]}")
        if "retinue-chat" not in (widget := self._curl("/embed/widget.js", "")):
            raise JourneyError(f"the chat widget is not built: {widget[:200]}")
        self.done.append("opened the console")

    def _post(self, path: str, body: dict[str, Any], token: str = "") -> Any:
        return json.loads(
            self._curl(path, token, "-H", "Content-Type: application/json", "-d", json.dumps(body))
        )

    def _curl(self, path: str, token: str, *arguments: str | Path) -> str:
        bearer = ("-H", f"Authorization: Bearer {token}") if token else ()
        asked = subprocess.run(  # noqa: S603  a command of this script
            [*CURL, f"http://127.0.0.1:{self.port}{path}", *bearer, *arguments],
            env=self._environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if asked.returncode:
            raise JourneyError(f"{path}: {asked.stderr.strip()} {asked.stdout.strip()}")
        return asked.stdout


def _free_port() -> int:
    with socket.socket() as probed:
        probed.bind(("127.0.0.1", 0))
        port: int = probed.getsockname()[1]
        return port


def _stop(server: subprocess.Popen[bytes]) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        if server.poll() is None:
            os.killpg(server.pid, number)
        try:
            server.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            continue
        return


def from_clone(journey: Journey) -> str:
    journey.hide_node(old=journey.python.path == SYSTEM)
    return run_clone(journey, journey.clone())


def from_wheel(journey: Journey) -> str:
    return install_wheel(journey, journey.clone())


def from_both(journey: Journey) -> str:
    journey.hide_node(old=journey.python.path == SYSTEM)
    home = journey.clone()
    return f"{run_clone(journey, home)}, {install_wheel(journey, home)}"


def run_clone(journey: Journey, home: Path) -> str:
    command = ("make", "--no-print-directory", f"PYTHON={journey.python.path}", f"PORT={journey.port}", "run")
    with journey.serving(home, *command):
        journey.done += ["installed", "started"]
        journey.talk()
    return f".venv: {_megabytes(home / '.venv')} MB"


def install_wheel(journey: Journey, source: Path) -> str:
    wheels, environment = journey.folder / "wheels", journey.folder / "env"
    retinue = environment / "bin" / "retinue"
    pip = (environment / "bin" / "python", "-m", "pip", "--disable-pip-version-check")
    journey.run(journey.python.path, "-m", "venv", environment)
    journey.run(*pip, "wheel", "--quiet", "--no-deps", "--wheel-dir", wheels, source)
    [wheel] = wheels.glob("*.whl")
    journey.wheel_hash = hashlib.sha256(wheel.read_bytes()).hexdigest()
    empty = _megabytes(environment)
    sizes = []
    for extras, visit in (("", journey.be_refused), ("[all]", journey.talk)):
        journey.run(*pip, "install", "--quiet", "--no-compile", f"{wheel}{extras}")
        journey.run(*pip, "check")
        sizes.append(f"retinue{extras}: {_megabytes(environment) - empty} MB")
        journey.done.append(f"installed the wheel{extras}")
        if extras:
            journey.run(retinue, "models", "pull")
        home = journey.folder / f"empty{extras}"
        home.mkdir()
        with journey.serving(home, retinue, "serve", "--port", str(journey.port)):
            journey.done.append("started")
            visit()
    return ", ".join(sizes)


def _megabytes(folder: Path) -> int:
    files = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return round(sum(path.stat().st_blocks * 512 for path in files) / 2**20)


WAYS = {"clone": from_clone, "wheel": from_wheel, "both": from_both}


def travelled(way: str, python: Python) -> str | None:
    """The sum of the wheel that was built, if any; None if the journey failed. What it did is printed."""
    folder = Path(tempfile.mkdtemp(prefix="first-chat-"))
    _folders.add(folder)
    journey = Journey(python, folder)
    try:
        size = WAYS[way](journey)
    except (JourneyError, OSError, KeyError, ValueError) as error:
        log = journey.log.read_text(errors="replace")[-MAX_LOG_SHOWN:] if journey.log.exists() else ""
        done = ", ".join(journey.done) or "nothing"
        say(f"{log}\n{python}: FAILED after: {done}; {type(error).__name__}: {error}")
        return None
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    say(f"{python}: {', '.join(journey.done)}; {journey.seconds:.0f} s, {size}")
    return journey.wheel_hash


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def chosen(named: list[str]) -> list[Python]:
    """Return the named Pythons, else Debian's own and the newest one found."""
    if named:
        pythons = [probe(Path(shutil.which(name) or name)) for name in named]
        unusable = [name for name, python in zip(named, pythons, strict=True) if python is None]
        if unusable:
            sys.exit(f"no Python 3.11 or newer with venv: {' '.join(unusable)}")
        return [python for python in pythons if python is not None]
    system, found = probe(SYSTEM), installed()
    if not found:
        sys.exit("there is no Python 3.11 or newer with venv on this machine")
    if system is None:
        say(f"{SYSTEM} cannot be used (too old, or python3-venv is missing): only {found[0]} is tried")
    elif found[0].version == system.version:
        say(f"{system} is the newest Python here: there is no other one to try")
    return list(dict.fromkeys(python for python in (system, found[0]) if python is not None))


def _give_up(*_: object) -> None:
    for group in _process_groups:
        with suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)
    for folder in _folders:
        shutil.rmtree(folder, ignore_errors=True)
    os._exit(1)


def main() -> None:
    way, *named = sys.argv[1:] or [""]
    if way not in WAYS:
        sys.exit(__doc__)
    signal.signal(signal.SIGTERM, _give_up)
    with ThreadPoolExecutor(max_workers=2) as pool:
        built = list(pool.map(lambda python: travelled(way, python), chosen(named)))
    if None not in built and len(set(built)) > 1:
        sys.exit(f"the wheels differ: {' '.join(map(str, built))}")
    sys.exit(1 if None in built else 0)


if __name__ == "__main__":
    main()
