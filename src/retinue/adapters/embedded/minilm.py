"""Embeddings in a child process: all-MiniLM-L6-v2 with 8 bit weights."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime  # type: ignore[import-untyped]  # no type hints
from tokenizers import Tokenizer

from retinue.kit.json_types import JsonObject
from retinue.kit.machine import available_cores

MAX_INPUT_TOKENS = 256


class MiniLm:
    def __init__(self, folder: Path) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = max(1, available_cores() - 1)
        options.inter_op_num_threads = 1
        # The arena would keep the memory of the largest text so far.
        options.enable_cpu_mem_arena = False
        # Spinning threads would use a core while idle.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self._session = onnxruntime.InferenceSession(
            str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"]
        )
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.enable_truncation(MAX_INPUT_TOKENS)
        self._tokenizer.no_padding()

    def embed(self, texts: list[str], is_cancelled: Callable[[], bool]) -> Iterator[tuple[bytes, int]]:
        """Yield the vector and the token count of each text.

        Texts are processed one at a time: vectors do not depend on their neighbours, and no padding is
        computed.
        """
        for encoding in map(self._tokenizer.encode, texts):
            if is_cancelled():
                return
            tokens = np.array([encoding.ids], np.int64)
            inputs = {
                "input_ids": tokens,
                "attention_mask": np.ones_like(tokens),
                "token_type_ids": np.zeros_like(tokens),
            }
            (hidden,) = self._session.run(None, inputs)
            mean = hidden[0].mean(axis=0)
            yield (mean / np.linalg.norm(mean)).astype(np.float32).tobytes(), tokens.size


def load(options: JsonObject) -> Callable[[str, Any, Callable[[], bool]], Iterator[Any]]:
    model = MiniLm(Path(options["folder"]))

    def serve(_method: str, payload: Any, is_cancelled: Callable[[], bool]) -> Iterator[Any]:
        return model.embed(payload, is_cancelled)

    return serve
