"""A book shop on loopback that crawlers can be tested against: deterministic, fast, as rude as asked.

Start at `server.py` (in this process) or `process.py` (in another); `behaviour.py` lists every misbehaviour,
`truth.py` knows what a correct crawl finds, `control.py` what can be asked and switched at run time.
"""

from practice_site.behaviour import PRESETS, Behaviour
from practice_site.process import RemoteSite, practice_site_process, practice_web_process, site_config
from practice_site.server import PracticeSite, PracticeWeb, serve
from practice_site.site_config import SiteConfig, many_sites
from practice_site.site_file import site_yaml
from practice_site.truth import Expectation, Truth

__all__ = [
    "PRESETS",
    "Behaviour",
    "Expectation",
    "PracticeSite",
    "PracticeWeb",
    "RemoteSite",
    "SiteConfig",
    "Truth",
    "many_sites",
    "practice_site_process",
    "practice_web_process",
    "serve",
    "site_config",
    "site_yaml",
]
