"""The one place where an error becomes words and an exit code. No traceback reaches the terminal.

A defect's traceback goes to `<data>/logs/`, and `NIGHTCRAWL_TRACEBACK=1` shows it. Credentials in URLs are
taken out of everything said.
"""

from __future__ import annotations

import os
import re
import sqlite3
import sys
import traceback
from datetime import UTC, datetime
from pathlib import Path

from .exit_codes import ExitCode

__all__ = ["CommandFailed", "report", "without_secrets"]

_USER_INFO = re.compile(r"(?i)\b([a-z][a-z0-9+.-]*://)[^\s/?#@]*@")
_SECRET_VALUE = re.compile(
    r"(?i)([?&;](?:[a-z0-9_.-]*(?:token|secret|passw|api_?key|signature|credential|auth)[a-z0-9_.-]*)=)[^&\s#;]+"
)
_SECRET_HEADER = re.compile(r"(?i)\b((?:proxy-)?authorization|cookie|x-api-key)(\s*[:=]\s*)[^\r\n'\"]+")


class CommandFailed(Exception):
    """A failure the user can mend: `message` says what happened and what to do."""

    def __init__(self, message: str, code: ExitCode = ExitCode.USAGE) -> None:
        super().__init__(message)
        self.message = message
        self.code = code


def without_secrets(text: str) -> str:
    """`text` without user names and passwords of URLs, secret query values and authorization headers."""
    text = _USER_INFO.sub(r"\1", text)
    text = _SECRET_VALUE.sub(r"\1***", text)
    return _SECRET_HEADER.sub(r"\1\2***", text)


def report(error: Exception) -> int:
    """Say what went wrong on standard error; the exit code. Numbered cases:

    1. a failure with its own words; 2. site files; 3. storage; 4. another process or the disk in the way;
    5. anything else is a defect: its traceback is kept in a file.
    """
    if os.environ.get("NIGHTCRAWL_TRACEBACK"):
        traceback.print_exception(error)
    if isinstance(error, CommandFailed):
        return _say(error.message, error.code)
    kinds = {f"{cls.__module__}.{cls.__name__}" for cls in type(error).__mro__}
    if "resources.site.problems.SiteFileError" in kinds:
        count = len(getattr(error, "problems", ()))
        return _say(
            f"{error}\n{count} problem{'s' * (count != 1)} in site files; nothing was done", ExitCode.USAGE
        )
    if kinds & {"resources.crawler.territory.MissingSecret", "resources.site.seeds.SeedError"}:
        return _say(str(error), ExitCode.USAGE)
    if kinds & _STORAGE or isinstance(error, sqlite3.Error):
        return _say(f"storage: {error}", ExitCode.STORAGE)
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        return _say(f"{where}{error.strerror or error}", ExitCode.STORAGE)
    kept = _keep(error)
    words = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else 'no words'}\nThis is a defect of Nightcrawl: please report it"
    return _say(words + (f" with {kept}" if kept else ""), ExitCode.INTERNAL)


#: Named, not imported: an error of a module cannot arrive here without the module, so nothing is loaded for it.
_STORAGE = {
    "resources.frontier.base.FrontierError",
    "resources.pages.base.PageStoreError",
    "resources.pacing.ledger.base.LedgerError",
    "resources.crawler.writer.StorageStuck",
    "resources.warehouse.connection.WarehouseError",
    "_duckdb.Error",
    "duckdb.Error",
    "duckdb.duckdb.Error",
}


def _say(message: str, code: ExitCode) -> int:
    print(f"error: {without_secrets(message)}", file=sys.stderr)
    return int(code)


def _keep(error: Exception) -> str:
    """Write the traceback into the data folder; where, or "" if that fails too (the error itself is said)."""
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    path = Path(os.environ.get("NIGHTCRAWL_DATA") or "data") / "logs" / f"error-{stamp}-{os.getpid()}.txt"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(without_secrets("".join(traceback.format_exception(error))), encoding="utf-8")
    except OSError:
        return ""
    return str(path)
