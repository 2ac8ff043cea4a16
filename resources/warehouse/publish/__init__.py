"""Write, audit, publish: readers only ever see rows that passed.

audit.py      `audit`: what is wrong with tonight's rows of a domain
publish.py    `publish`: passing domains replace their published rows, the others stay as they were, marked stale
diff.py       `diff`: tonight against published, as data
changes.py    `changes`: the same of many domains at once, in numbers with a few examples
tables.py     which tables there are and by what their rows are told apart
"""

from __future__ import annotations

from .audit import AuditProblem, audit
from .diff import TableDiff, diff
from .publish import PublishError, PublishReport, publish

__all__ = ["AuditProblem", "PublishError", "PublishReport", "TableDiff", "audit", "diff", "publish"]
