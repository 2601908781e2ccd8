"""Help that can be read: options by what they are about, and what is meant by a command that there is not."""

from __future__ import annotations

import os

import click

SECTIONS = {
    "Which rules": ("--select", "--ignore", "--extend-select", "--extend-ignore", "--target-torch"),
    "Which findings": (
        *("--fail-on", "--min-confidence", "--since", "--staged", "--baseline", "--no-baseline"),
        *("--no-suppressions", "--add-ignore"),
    ),
    "Which files": ("--exclude", "--extend-exclude", "--force-exclude", "--docs", "--max-file-size", "--show-files"),
    "Fixes": (
        *("--fix", "--unsafe-fixes", "--diff", "--fix-only", "--show-fixes", "--fixable", "--unfixable"),
        *("--extend-fixable", "--fix-baselined"),
    ),
    "Reports": (
        *("--output-format", "--output-file", "--statistics", "--profile-rules", "--color", "--quiet", "--silent"),
        "--verbose",
    ),
    "Exit code": ("--exit-zero", "--exit-non-zero-on-fix", "--max-warnings"),
}
"""The options of ``check`` by what they are about; what is not listed comes last."""


_MEANT = {
    "fix": "check --fix",
    "lint": "check",
    "format": "check --fix",
    "diff": "check --diff",
    "explain": "rule",
    "rules": "rule --all",
    "lsp": "server",
    "init": "baseline write",
}
"""What other programs call what there is here."""


class Commands(click.Group):
    """Commands, with a word on what is meant by one that there is not."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that arguments begin with."""
        name = args[0]
        if self.get_command(ctx, name) is None and not name.startswith("-"):
            raise click.UsageError(f"there is no command `{name}`{self._meant(name)}", ctx)
        return super().resolve_command(ctx, args)

    def _meant(self, name: str) -> str:
        if os.path.exists(name) or name.endswith((".py", ".ipynb")):
            return f": to check files write `torchlint check {name}`"
        if name in ("help", "version"):
            return f": write `torchlint --{name}`"
        if name in _MEANT:
            return f": write `torchlint {_MEANT[name]}`"
        from torchlint.project.selection import did_you_mean

        return did_you_mean(name, self.commands)


class InSections(click.Command):
    """A command with its options in sections."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options."""
        records = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None and isinstance(parameter, click.Option):
                name = next((each for each in parameter.opts if each.startswith("--")), parameter.opts[0])
                records[name] = record
        for title, names in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([records.pop(name) for name in names if name in records])
        with formatter.section("Other options"):
            formatter.write_dl(list(records.values()))
