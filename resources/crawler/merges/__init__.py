"""Do the site's own rules about URLs merge different pages? Asked once a night, of a few links.

sample.py   a few links a rule, gathered while pages are read: as they were spelled, beside their canonical form
audit.py    asks for the spelling, and compares it with the stored page
"""

from __future__ import annotations

from .audit import MergeAudit, Probe
from .sample import MergedPair, MergeSample

__all__ = ["MergeAudit", "MergeSample", "MergedPair", "Probe"]
