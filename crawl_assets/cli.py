"""The `nightcrawl` command: one command a file in `crawl_assets.commands`, this is only their list.

Commands import what they need when they run, so that `nightcrawl status` does not wait for Dagster.
Exit codes are in `commands.exit_codes`; errors of every command end in `commands.failures.report`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import typer

from crawl_assets.commands import (
    check,
    crawl,
    export_warc,
    import_warc,
    init,
    maintain,
    metrics,
    move,
    pace,
    plan,
    practice_site,
    prepare,
    publish,
    reset,
    retry,
    schema,
    seed,
    sql,
    status,
    top,
    ui,
    version,
    why,
    worker,
)
from crawl_assets.commands.failures import report
from resources.process_end import end_without_collecting

__all__ = ["app", "main"]

app = typer.Typer(
    name="nightcrawl",
    help="A web crawl that runs every night: polite, durable, and ending as tables people trust.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

_CRAWLING, _LOOKING, _MENDING, _SITES = "Crawl", "Look", "Mend", "Site files and archives"

app.command("crawl", rich_help_panel=_CRAWLING)(crawl.crawl)
app.command("init", rich_help_panel=_CRAWLING)(init.init)
app.command("worker", rich_help_panel=_CRAWLING)(worker.worker)
app.command("ui", rich_help_panel=_CRAWLING)(ui.ui)
app.command("prepare", rich_help_panel=_CRAWLING)(prepare.prepare)
app.command(
    "practice-site",
    rich_help_panel=_CRAWLING,
    add_help_option=False,
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
)(practice_site.practice_site)

app.command("status", rich_help_panel=_LOOKING)(status.status)
app.command("plan", rich_help_panel=_LOOKING)(plan.plan)
app.command("top", rich_help_panel=_LOOKING)(top.top)
app.command("metrics", rich_help_panel=_LOOKING)(metrics.metrics)
app.command("why", rich_help_panel=_LOOKING)(why.why)
app.command("sql", rich_help_panel=_LOOKING)(sql.sql)

app.command("pace", rich_help_panel=_MENDING)(pace.pace)
app.command("retry", rich_help_panel=_MENDING)(retry.retry)
app.command("seed", rich_help_panel=_MENDING)(seed.seed)
app.command("maintain", rich_help_panel=_MENDING)(maintain.maintain)
app.command("move", rich_help_panel=_MENDING)(move.move)
app.command("reset", rich_help_panel=_MENDING)(reset.reset)
app.command("publish", rich_help_panel=_MENDING)(publish.publish)

app.command("check", rich_help_panel=_SITES)(check.check)
app.command("schema", rich_help_panel=_SITES)(schema.schema)
app.command("export-warc", rich_help_panel=_SITES)(export_warc.export_warc)
app.command("import-warc", rich_help_panel=_SITES)(import_warc.import_warc)
app.command("version", rich_help_panel=_SITES)(version.version)


def main(arguments: Sequence[str] | None = None) -> None:
    """The console script. Always ends by SystemExit with a code of `commands.exit_codes`."""
    end_without_collecting()
    try:
        app(args=list(arguments) if arguments is not None else None)
    except Exception as error:
        sys.exit(report(error))


if __name__ == "__main__":
    main()
