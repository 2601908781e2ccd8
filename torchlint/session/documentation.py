"""The code in the docstrings of a file, checked beside the code of the file itself."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from torchlint.diagnostic import Fixing, Problem
from torchlint.file.docs.blocks import docstring_of
from torchlint.file.text.python import parsed
from torchlint.session.content import FileContent, documentation_in, read_content

if TYPE_CHECKING:
    from torchlint.session.worker import JobResult, Opened


def with_documentation(opened: Opened, check: Callable[[Opened], JobResult]) -> JobResult:
    """What becomes of a file with the code in its docstrings, which is fixed first: the file's imports hold for it."""
    job, content = opened.job, opened.content
    documentation = documentation_in(content.data)
    if documentation is None:
        return check(opened)
    found = check(replace(opened, content=documentation, is_wanted=True))
    if found.after is not None and not _differ_in_docstrings_only(content.data, found.after):
        problem = Problem(job.path, "the examples in docstrings are not fixed: that would change the program")
        result = check(opened)
        return replace(result, problems=(*result.problems, problem))
    if found.after is not None:
        content = read_content(job.path, found.after)
    left = Counter(job.accepted) - Counter(each.key for each in found.accepted)
    result = check(replace(opened, job=replace(job, accepted=left), content=content))
    if result.unwritten:
        return replace(result, before=opened.content.data)
    if result.after is not None:
        found = _again(found, documentation_in(result.after), opened, check)
    after = found.after if result.after is None else result.after
    return replace(
        result,
        diagnostics=tuple(sorted((*result.diagnostics, *found.diagnostics), key=lambda each: each.sort_key)),
        text=result.text or found.text,
        problems=(*result.problems, *found.problems),
        fixed=tuple(sorted((Counter(dict(result.fixed)) + Counter(dict(found.fixed))).items())),
        suppressed=result.suppressed + found.suppressed,
        accepted=(*result.accepted, *found.accepted),
        rests_on={**result.rests_on, **found.rests_on},
        before=opened.content.data if after is not None else b"",
        after=after,
        is_gated=result.is_gated or bool(found.diagnostics),
        unread=found.unread,
    )


def _again(
    found: JobResult, documentation: FileContent | None, opened: Opened, check: Callable[[Opened], JobResult]
) -> JobResult:
    """What is left in docstrings now that lines have moved."""
    if documentation is None:
        return found
    left = check(replace(opened, job=replace(opened.job, fixing=Fixing.NONE), content=documentation, is_wanted=True))
    return replace(left, fixed=found.fixed)


def _differ_in_docstrings_only(before: bytes, after: bytes) -> bool:
    """Whether two texts are the same program but for their docstrings."""
    return _without_docstrings(before) == _without_docstrings(after)


def _without_docstrings(data: bytes) -> str | None:
    tree = parsed(read_content("", data).source.text)
    for node in ast.walk(tree) if tree is not None else ():
        if (literal := docstring_of(node)) is not None:
            literal.value = ""
    return ast.dump(tree) if tree is not None else None
