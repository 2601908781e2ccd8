"""What is a check of torch's version, behind which code is left alone, and what only looks like one."""

from __future__ import annotations

import textwrap

import pytest

from torchlint.file.check import check_text

DEPRECATED = "torch.qr(x)"

GUARDS = {
    "hasattr": "if hasattr(torch.linalg, 'qr'):\n    return torch.linalg.qr(x)\nreturn torch.qr(x)\n",
    "version": "if torch.__version__ >= '1.8':\n    return torch.linalg.qr(x)\nreturn torch.qr(x)\n",
    "branch": "if TORCH_VERSION < (1, 8):\n    return torch.qr(x)\nreturn torch.linalg.qr(x)\n",
    "parsed": "if Version(torch.__version__) < Version('1.8'):\n    return torch.qr(x)\n",
    "signature": "if 'some' in inspect.signature(f).parameters:\n    return torch.qr(x)\n",
    "defaults": "if 'some' in f.__kwdefaults__:\n    return torch.qr(x)\n",
    "attribute error": "try:\n    return torch.linalg.qr(x)\nexcept AttributeError:\n    return torch.qr(x)\n",
    "type error": "try:\n    return torch.linalg.qr(x, mode='r')\nexcept TypeError:\n    return torch.qr(x)\n",
    "too new": "if torch.__version__ >= '2.9':\n    raise RuntimeError('too new')\nreturn torch.qr(x)\n",
    "available": "if LINALG_AVAILABLE:\n    return torch.linalg.qr(x)\nelse:\n    return torch.qr(x)\n",
}
NO_GUARDS = {
    "a device": "if torch.cuda.is_available():\n    x = x.cuda()\n    return torch.qr(x)\n",
    "a device behind": "if not torch.cuda.is_available():\n    return x\nreturn torch.qr(x)\n",
    "a device asserted": "assert torch.cuda.is_available()\nreturn torch.qr(x)\n",
    "a device's flag": "if CUDA_AVAILABLE:\n    return torch.qr(x)\n",
    "a package": "if not SCIPY_AVAILABLE:\n    raise ImportError('scipy is needed')\nreturn torch.qr(x)\n",
    "a package asserted": "assert is_scipy_available()\nreturn torch.qr(x)\n",
    "a word": "if cfg.conversion or inversion:\n    return torch.qr(x)\n",
    "raised again": "try:\n    return torch.qr(x)\nexcept RuntimeError:\n    print('bad')\n    raise\n",
    "raised as another": "try:\n    return torch.qr(x)\nexcept Exception as e:\n    raise ValueError(x) from e\n",
}


def found(body: str) -> bool:
    text = f"import inspect\n\nimport torch\n\n\ndef f(x, cfg, inversion):\n{textwrap.indent(body, '    ')}"
    return any(
        DEPRECATED.startswith(d.message[1:9]) for d in check_text(text, "x.py", frozenset(("TL302",))).diagnostics
    )


@pytest.mark.parametrize("name", GUARDS)
def test_a_fallback_is_left_alone(name: str) -> None:
    assert not found(GUARDS[name])


@pytest.mark.parametrize("name", NO_GUARDS)
def test_what_is_no_check_of_a_version_hides_nothing(name: str) -> None:
    assert found(NO_GUARDS[name])
