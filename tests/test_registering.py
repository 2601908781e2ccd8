"""``torchlint/model/torch/data/registering.json`` is what the installed torch does."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "scripts"))

import generate_registering as script


@pytest.mark.filterwarnings("ignore")
def test_it_is_what_the_installed_torch_does() -> None:
    there = json.loads(script.OUTPUT.read_text(encoding="utf-8"))
    assert there == script.generate(), "run scripts/generate_registering.py"
