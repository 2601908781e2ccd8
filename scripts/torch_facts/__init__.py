"""How facts about torch are found out, by running it: what the scripts that write ``torchlint/model/torch/data`` share.

``naming`` (which names there are), ``signatures`` and ``annotations`` (what is written about them), ``probes`` and
``samples`` (what to run), ``execution`` (one call, seen), ``merging`` (many calls of one function), ``results`` (what
comes of it), ``generated`` (the files).
"""

from typing import Any

Result = Any
"""A string or an object, as ``scripts/generate_torch_data.py`` describes them."""
