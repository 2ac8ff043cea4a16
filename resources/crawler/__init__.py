"""The crawl: the loop that ties frontier, pacing, fetcher and page store together. Start at `crawl`."""
