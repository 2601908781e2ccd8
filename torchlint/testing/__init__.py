"""Tests of rules: the ``diff`` blocks of a rule's docstring, run as those of torchlint's own rules are.

.. code-block:: python

    import pytest
    from torchlint.testing import Check, check_documentation, checks

    @pytest.mark.parametrize("check", checks("XY"), ids=str)
    def test_rules(check: Check) -> None:
        check()

Nothing here needs pytest; ``check_rule("XY001")`` asks everything at once. Blocks marked ``run`` are executed where
torch and numpy are installed, and skipped where they are not. ``missed("XY001", "some/code")`` says what the rule does
not find in real code only because of its trigger.
"""

from torchlint.testing.checking import Check, check_documentation, check_rule, checks
from torchlint.testing.examples import BadExample, Example, Mark, examples
from torchlint.testing.linting import lint
from torchlint.testing.triggers import missed

__all__ = [
    "BadExample",
    "Check",
    "Example",
    "Mark",
    "check_documentation",
    "check_rule",
    "checks",
    "examples",
    "lint",
    "missed",
]
