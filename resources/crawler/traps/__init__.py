"""Places without end, recognised while they are crawled: session ids, calendars, lists whose "next" never stops.

`slots` and `series` read a URL; `sessions`, `endless` and `sameness` each watch for one kind of trap; `guard` is
what the crawl loop talks to. Nothing here does I/O; one guard belongs to one domain.
"""
