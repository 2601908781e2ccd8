"""The commands, as click wants them. What they do is done elsewhere, and imported when it is done."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from torchlint import __version__
from torchlint.cli.baseline_commands import baseline
from torchlint.cli.exit_codes import CLEAN, USAGE
from torchlint.cli.help import Commands, InSections
from torchlint.cli.options import (
    CONFIDENCES,
    LEVELS,
    UsageError,
    completed_formats,
    completed_rules,
    config_option,
    jobs_option,
    patterns_option,
    rules_option,
    settings_can_be_wrong,
    verbose_option,
)
from torchlint.cli.report import Style
from torchlint.cli.report.terminal import printable, wants_color
from torchlint.project.formats import AUTO, FORMATS

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

COMPLETE = "_TORCHLINT_COMPLETE"
"""The variable by which shells ask for completion."""

NEWEST = "2.13"
"""The version of torch that the table of its API was run with."""


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", message="torchlint %(version)s")
def cli() -> None:
    """Find PyTorch code that is wrong, dangerous or out of date, and rewrite it."""


cli.add_command(baseline)


class _Check(InSections):
    """``--add-ignore`` takes a reason only with an equals sign: what follows it is a path."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        end = args.index("--") if "--" in args else len(args)
        options = [f"{each}=" if each == "--add-ignore" else each for each in args[:end]]
        return super().parse_args(ctx, options + args[end:])


@cli.command(cls=_Check, short_help="Report what is wrong, and fix it.")
@click.argument("paths", nargs=-1, type=click.Path(readable=False))
@rules_option("--select", "Rules to use: codes, prefixes, names, groups, ALL.")
@rules_option("--ignore", "Rules not to use.")
@rules_option("--extend-select", "Rules to use as well.")
@rules_option("--extend-ignore", "Rules not to use; the same as --ignore.")
@click.option("--fix/--no-fix", default=None, help="Apply safe fixes.")
@click.option(
    "--interactive", is_flag=True, help="With --fix, ask for each fix, and which of its alternatives to take."
)
@click.option("--watch", is_flag=True, help="Check again whenever a file changes.")
@click.option("--unsafe-fixes/--no-unsafe-fixes", default=None, help="Apply unsafe fixes too, or show them.")
@click.option("--fix-only/--no-fix-only", default=None, help="Apply fixes, and report nothing that is left.")
@click.option(
    "--show-fixes/--no-show-fixes", default=None, help="List what was fixed, by file and rule (default: on a terminal)."
)
@rules_option("--fixable", "Rules whose fixes may be applied (default: all).")
@rules_option("--unfixable", "Rules whose fixes may not be applied.")
@rules_option("--extend-fixable", "Rules whose fixes may be applied as well.")
@click.option("--diff", is_flag=True, help="Show what --fix would change, as a patch; change nothing.")
@click.option(
    "--output-format",
    multiple=True,
    metavar="FORMAT[:FILE]",
    shell_complete=completed_formats,
    help=f"{', '.join(FORMATS)}, {AUTO}; several, each but one with a file. Default: full.",
)
@click.option("--output-file", metavar="FILE", type=click.Path(), help="Where the report goes.")
@click.option("--since", metavar="REF", help="Report what the changes since this branch left REF have brought.")
@click.option("--staged", is_flag=True, help="Report what the staged changes have brought, and read what is staged.")
@click.option("--add-ignore", metavar="[REASON]", help="Silence all that is found by comments (--add-ignore=REASON).")
@click.option("--statistics", is_flag=True, help="Count the findings of each rule: [*] all can be fixed, [-] some.")
@click.option("--profile-rules", is_flag=True, help="Say which rules take how much of the time.")
@click.option("--exit-zero", is_flag=True, help="Exit with 0 even if there are findings.")
@click.option("--exit-non-zero-on-fix", is_flag=True, help="Exit with 1 if anything was fixed.")
@click.option(
    "--fail-on",
    type=click.Choice(LEVELS),
    help="Exit with 1 only for what is as bad as that, or worse (default: info).",
)
@click.option(
    "--max-warnings",
    type=click.IntRange(min=0),
    metavar="N",
    help="Exit with 1 for more warnings than that, too, whatever --fail-on says.",
)
@click.option("--min-confidence", type=click.Choice(CONFIDENCES), help="Report what is at least as sure as that.")
@click.option("--no-suppressions", is_flag=True, help="Report what comments silence, too.")
@patterns_option("--exclude", "Patterns for what is not checked, instead of those of the settings.")
@patterns_option("--extend-exclude", "Patterns for what is not checked, either.")
@config_option
@click.option("--isolated", is_flag=True, help="Ignore all settings files.")
@click.option("--no-cache", is_flag=True, help="Neither use nor write the cache.")
@click.option("--cache-dir", type=click.Path(), envvar="TORCHLINT_CACHE_DIR", help="Where the cache is.")
@click.option("--baseline", metavar="FILE", type=click.Path(), help="The baseline, if it has another name or place.")
@click.option("--no-baseline", is_flag=True, help="Report what is in the baseline, too.")
@click.option("--fix-baselined", is_flag=True, help="With --fix, fix what is in the baseline, too.")
@click.option("--stdin-filename", metavar="NAME", help="The name of what is read from standard input (-).")
@click.option("--docs/--no-docs", default=None, help="Check code in Markdown, reStructuredText and docstrings, too.")
@click.option("--show-files", is_flag=True, help="List the files that would be checked.")
@click.option("--force-exclude", is_flag=True, help="Apply excludes to files given by name, too.")
@click.option(
    "--target-torch",
    metavar="VERSION",
    help="The oldest torch version the code has to run with, or a range: '>=1.13,<2.5'.",
)
@click.option("--max-file-size", metavar="SIZE", help="Check no larger files: bytes, 300K, 5M; 0 for the most, 50 MB.")
@jobs_option
@click.option("-q", "--quiet", is_flag=True, help="Print findings, warnings and errors only.")
@click.option("-s", "--silent", is_flag=True, help="Print nothing but errors; reports in files are written.")
@verbose_option()
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", show_default=True)
def check(watch: bool, **given: Any) -> int:
    """Check files and directories (default: the current one; - reads standard input).

    Exit code: 0 nothing found, 1 findings, 2 bad usage or settings, 3 something could not be checked.
    """
    from torchlint.cli.check import CheckCommand
    from torchlint.cli.decisions import CheckOptions

    given["quiet"] |= given["silent"]
    with settings_can_be_wrong():
        options = CheckOptions(**given)
        if watch:
            from torchlint.cli import watch as watching

            return watching.watch(options)
        return CheckCommand(options).run()


@cli.command(short_help="Explain a rule, or a group of rules.")
@click.argument("rule", required=False, metavar="[CODE|NAME|GROUP]", shell_complete=completed_rules)
@click.option("--all", "every", is_flag=True, help="Explain all rules.")
@verbose_option(expose_value=False)
@click.option("--output-format", type=click.Choice(["text", "json", "markdown"]), default="text", show_default=True)
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", show_default=True)
def rule(rule: str | None, every: bool, output_format: str, color: str) -> int:
    """Explain a rule, or the rules of a group."""
    import json

    from torchlint.cli import explain
    from torchlint.project.selection import GROUPS, known_names

    if (rule is None) is not every:
        raise click.UsageError("give the code or the name of a rule, a group, or --all")
    with settings_can_be_wrong():
        codes = list(known_names()) if rule is None else _codes(rule, known_names())
    if output_format == "json":
        entries = [explain.as_json(code) for code in codes]
        print(json.dumps(entries if every or rule in GROUPS else entries[0], indent=2))
        return CLEAN
    if output_format == "markdown":
        print("\n\n".join(map(explain.as_markdown, codes)))
        return CLEAN
    print("\n\n".join(explain.as_text(code, Style(wants_color(color))) for code in codes))
    return CLEAN


def _codes(asked: str, known: dict[str, str]) -> list[str]:
    from torchlint.project.selection import GROUPS, means, unknown_rule

    if asked in GROUPS:
        return [code for code, name in known.items() if means(asked, code, name)]
    for code, name in known.items():
        if asked.upper() == code or asked == name:
            return [code]
    raise click.UsageError(unknown_rule(asked))


def _keys(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    from torchlint.project.keys import BY_NAME

    return [CompletionItem(name) for name in BY_NAME if name.startswith(incomplete)]


@cli.command(short_help="List the settings; say which hold for a file.")
@click.argument("key", required=False, shell_complete=_keys)
@click.option("--explain", metavar="FILE", type=click.Path(), help="Which settings hold for a file, and who says so.")
@click.option("--schema", is_flag=True, help="The JSON Schema of settings files.")
@config_option
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True)
@verbose_option(expose_value=False)
def config(key: str | None, explain: str | None, schema: bool, config: tuple[str, ...], output_format: str) -> int:
    """List the settings there are, or say more of one.

    Exit code: 0 all is said, 2 bad usage or settings.
    """
    import json

    from torchlint.cli import config as command
    from torchlint.project.keys import ALL
    from torchlint.project.schema import text
    from torchlint.project.settings import given

    if (key is not None) + (explain is not None) + schema > 1:
        raise click.UsageError("give a key, or --explain, or --schema")
    style, is_json = Style(wants_color("auto")), output_format == "json"
    if schema:
        click.echo(text(), nl=False)
        return CLEAN
    wrong: list[str] = []
    with settings_can_be_wrong():
        if explain is not None:
            found = command.explained(explain, given(config))
            wrong = found.wrong
            lines = [json.dumps(found.as_json(), indent=2)] if is_json else list(found.lines(style))
        elif key is not None:
            known = command.key_named(key)
            lines = [json.dumps(command.as_json(known), indent=2)] if is_json else list(command.described(known, style))
        else:
            lines = [json.dumps([*map(command.as_json, ALL)], indent=2)] if is_json else list(command.listed())
    click.echo("\n".join(lines))
    for message in wrong:
        click.echo(f"error: {printable(message)}", err=True)
    return USAGE if wrong else CLEAN


@cli.command(short_help="Write the files of a rule of your own.")
@click.argument("code")
@click.argument("name")
@click.option("--package", help="The name of the package to make, if there is no project (default: as the directory).")
@verbose_option(expose_value=False)
def new_rule(code: str, name: str, package: str | None) -> int:
    """Write the files of a new rule, HR001 no-item say, into the project in the working directory.

    In an empty directory that is a package of its own with a test; see
    https://github.com/torchlint/torchlint/blob/main/docs/writing-a-rule.md

    Exit code: 0 they are there, 2 they cannot be.
    """
    from torchlint.cli import new_rule as files

    with settings_can_be_wrong():
        try:
            made = files.make(code, name, os.getcwd(), package)
        except files.NotMade as error:
            raise UsageError(str(error)) from error
    click.echo("\n".join((*(f"Made {file}" for file in made.files), f"Next: {made.next}")))
    return CLEAN


@cli.command(short_help="Print what expressions are believed to be.")
@click.argument("paths", nargs=-1, required=True, metavar="FILE[:LINE[:COL]]...", type=click.Path(readable=False))
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--kind", multiple=True, metavar="KIND", help="Only what may be of this kind: tensor, module, ...")
@click.option("--all", "every", is_flag=True, help="Show literals and what nothing is known of, too.")
@config_option
@click.option("--isolated", is_flag=True, help="Ignore all settings files.")
@verbose_option()
def infer(**given: Any) -> int:
    """Print what the expressions of files can be, and on what evidence.

    Of a line those that begin on it; of a column those that begin there, else the innermost one around it.

    Exit code: 0 all is said, 2 bad usage, settings or input, 3 something could not be analysed.
    """
    from torchlint.cli.infer import InferOptions, Reveal

    with settings_can_be_wrong():
        return Reveal(InferOptions(**given)).run()


@cli.command(short_help="Print what a newer version of torch brings.")
@click.argument("paths", nargs=-1, type=click.Path(readable=False))
@click.option("--from", "oldest", required=True, metavar="VERSION", help="The version of torch that is used now.")
@click.option("--to", "newest", default=NEWEST, show_default=True, metavar="VERSION", help="The version to go to.")
@click.option("--fix", is_flag=True, help="Apply safe fixes.")
@click.option("--unsafe-fixes", is_flag=True, help="With --fix, apply unsafe fixes too.")
@click.option("--allow-dirty", is_flag=True, help="With --fix, write also where there are uncommitted changes.")
@config_option
@jobs_option
@verbose_option()
def upgrade(**given: Any) -> int:
    """Print what code meets on the way from one version of torch to another, by symbol.

    Fixes are written for the newer version. A project that has to run with both uses `check --target-torch`.

    Exit code: 0 nothing found, 1 findings, 2 bad usage or settings, 3 something could not be checked.
    """
    from torchlint.cli.upgrade import UpgradeOptions, run

    with settings_can_be_wrong():
        return run(UpgradeOptions(**given))


@cli.command(short_help="Count findings, and how they became fewer.")
@click.argument("paths", nargs=-1, type=click.Path(readable=False))
@click.option("--history", is_flag=True, help="How many findings the baseline had, from commit to commit.")
@click.option("--baseline", metavar="FILE", type=click.Path(), help="The baseline, if it has another name or place.")
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True)
@config_option
@jobs_option
@verbose_option()
def stats(**given: Any) -> int:
    """Count the findings of each rule: those that are new, those in the baseline, and those with a safe fix.

    With --history it counts what the baseline had in each commit of this branch that changed it; no file is checked.

    Exit code: 0 it is printed, 2 bad usage or settings, 3 something could not be checked.
    """
    from torchlint.cli import stats as command

    with settings_can_be_wrong():
        return command.stats(command.StatsOptions(**given))


@cli.command(short_help="Serve an editor, which starts this itself.")
@click.option("--stdio", is_flag=True, expose_value=False, help="Use standard input and output, as always.")
@verbose_option()
def server(verbose: bool) -> int:
    """Serve an editor, which starts this itself: see https://github.com/torchlint/torchlint/blob/main/docs/editors.md

    Exit code: 0 the editor has ended it, 1 the editor was gone, 2 what this needs is not installed.
    """
    try:
        from torchlint.server.main import serve
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        raise UsageError("`torchlint server` needs pygls 2: pip install 'torchlint[lsp]'") from None
    return serve(verbose=verbose)


@cli.command(short_help="Print what has a shell complete words.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish", "powershell"]))
@verbose_option(expose_value=False)
def completion(shell: str) -> int:
    """Print a script that has a shell complete commands, options, rules and paths.

    In ~/.bashrc or ~/.zshrc: eval "$(torchlint completion bash)"; for the others see
    https://github.com/torchlint/torchlint/blob/main/docs/ci.md

    Exit code: 0 it is printed, 2 there is none for this shell.
    """
    from click.shell_completion import shell_complete

    if shell_complete(cli, {}, "torchlint", COMPLETE, f"{shell}_source") != 0:
        raise UsageError(f"completion for {shell} needs a newer click: pip install --upgrade click")
    return CLEAN


@cli.command(short_help="Remove the cache, and what killed runs have left.")
@click.option("--cache-dir", type=click.Path(), envvar="TORCHLINT_CACHE_DIR", help="Where the cache is.")
@verbose_option(expose_value=False)
def clean(cache_dir: str | None) -> int:
    """Remove the cache of the project in the working directory, and nothing else that may be in its place.

    And what runs that were killed while they wrote to files have left beside these.

    Exit code: 0 it is gone or there was none, 2 bad settings, or what is there is no cache, 3 it could not be removed.
    """
    from torchlint.cli import clean as command

    with settings_can_be_wrong():
        return command.clean(cache_dir)
