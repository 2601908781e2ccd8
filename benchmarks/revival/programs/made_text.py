"""Made-up text for language models."""

from __future__ import annotations

import random
from pathlib import Path

WORDS = ["the", "a", "cat", "dog", "bird", "sees", "hears", "likes", "small", "big", "red", "old"]


def write_corpus(folder: str, lines: int = 300) -> None:
    """Sentences in which each word says much about the next one, as train.txt, valid.txt and test.txt."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    for name, count in (("train", lines), ("valid", lines // 5), ("test", lines // 5)):
        starts = [random.randrange(len(WORDS)) for _ in range(count)]
        text = "\n".join(" ".join(WORDS[(start + step) % len(WORDS)] for step in range(8)) for start in starts)
        (Path(folder) / f"{name}.txt").write_text(text + "\n")
