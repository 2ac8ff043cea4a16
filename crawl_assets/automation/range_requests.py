"""A run over neighbouring partitions, as schedules and sensors ask for it."""

from __future__ import annotations

import dagster as dg

__all__ = ["range_request"]


def range_request(
    key: str, first: str, last: str, tags: dict[str, str], *, job_name: str | None = None
) -> dg.RunRequest:
    """One run over the partitions from `first` to `last`, in their order of insertion."""
    return dg.RunRequest(
        run_key=key,
        job_name=job_name,
        tags={
            "dagster/asset_partition_range_start": first,
            "dagster/asset_partition_range_end": last,
            **tags,
        },
    )
