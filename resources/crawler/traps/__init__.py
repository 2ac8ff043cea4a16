"""Places without end, recognised while they are crawled: session ids, calendars, lists whose "next" never stops.

`slots` and `series` read a URL, `novelty` what a page says; `sessions`, `endless` (with its `places`) and `sameness` each
watch for one kind of trap; `trust` is what the site file has to say; `guard` is what the crawl loop talks to. Nothing
here does I/O; one guard belongs to one domain.
"""
