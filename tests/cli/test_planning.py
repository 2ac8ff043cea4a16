"""What an operator asks before the night, and the orders to a domain's pace."""

from __future__ import annotations

import json

from crawl_assets.commands.exit_codes import ExitCode
from resources.installation import Installation
from resources.pacing.ledger.base import LedgerRow
from tests.cli.conftest import Command


def remember(installation: Installation, **row: object) -> None:
    ledger = installation.open_ledger()
    ledger.save([LedgerRow("shop.example", 1.0, **row)])  # type: ignore[arg-type]
    ledger.close()


def test_a_plan_answers_whether_it_will_be_ready(nightcrawl: Command, installation: Installation) -> None:
    remember(installation, rate=2.0)
    told = nightcrawl("plan")
    assert told.exit_code == 0
    assert "Ready at about" in told.output and "shop.example" in told.output
    plan = json.loads(nightcrawl("plan", "--json").output)
    assert plan["verdict"] == "unknown"  # nobody knows its pages yet
    assert plan["domains"][0]["why_rate"] == "learned"


def test_a_plan_that_cannot_be_kept_is_bad_news(nightcrawl: Command, installation: Installation) -> None:
    remember(installation, owed_until=9e9)
    told = nightcrawl("plan")
    assert told.exit_code == ExitCode.BAD_NEWS
    assert "Not ready by" in told.output


def test_what_cannot_be_planned_is_said(nightcrawl: Command, installation: Installation) -> None:
    assert nightcrawl("plan", "--ready-by", "seven").exit_code == ExitCode.USAGE
    assert nightcrawl("plan", "--night", "1999-01-01").exit_code == ExitCode.USAGE
    (installation.sites / "shop.yaml").unlink()
    assert nightcrawl("plan").exit_code == ExitCode.USAGE  # no domain at all


def test_orders_to_the_pace_wait_in_the_ledger(nightcrawl: Command, installation: Installation) -> None:
    assert nightcrawl("pace", "shop.example", "--slow", "0.5", "--reason", "a sale").exit_code == 0
    assert nightcrawl("pace", "shop.example", "--resume").exit_code == 0
    ledger = installation.open_ledger()
    slow, resume = ledger.commands()
    ledger.close()
    assert (slow.kind, slow.factor, slow.reason) == ("slow_down", 0.5, "a sale")
    assert resume.kind == "resume"


def test_an_order_must_be_one_and_for_a_domain_that_is_known(nightcrawl: Command) -> None:
    assert nightcrawl("pace", "shop.example").exit_code == ExitCode.USAGE
    assert nightcrawl("pace", "shop.example", "--resume", "--pause").exit_code == ExitCode.USAGE
    assert nightcrawl("pace", "other.example", "--pause").exit_code == ExitCode.USAGE
