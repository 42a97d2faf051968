"""Embeddings in a child process: all-MiniLM-L6-v2 with 8 bit weights."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime  # type: ignore[import-untyped]  # it has no types
from tokenizers import Tokenizer

LONGEST_TOKENS = 256


class MiniLm:
    def __init__(self, folder: Path) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = max(1, len(os.sched_getaffinity(0)) - 1)
        options.inter_op_num_threads = 1
        # Without it the largest text so far decides for ever how much memory is held.
        options.enable_cpu_mem_arena = False
        # Threads that wait for work by spinning cost a core while nobody asks anything.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self._session = onnxruntime.InferenceSession(
            str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"]
        )
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.enable_truncation(LONGEST_TOKENS)
        self._tokenizer.no_padding()

    def embed(self, texts: list[str], is_cancelled: Callable[[], bool]) -> Iterator[tuple[bytes, int]]:
        """For each text its vector and its number of tokens.

        One text at a time: then its vector does not depend on its neighbours, and padding costs nothing.
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


def load(options: dict[str, Any]) -> Callable[[str, Any, Callable[[], bool]], Iterator[Any]]:
    model = MiniLm(Path(options["folder"]))

    def serve(_method: str, payload: Any, is_cancelled: Callable[[], bool]) -> Iterator[Any]:
        return model.embed(payload, is_cancelled)

    return serve
