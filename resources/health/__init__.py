"""How crawls fare: five metrics over stretches of the fetch log, and whether throttling becomes a trend.

1. throughput; 2. errors by class: 403, 429, 5xx and time-outs apart; 3. share of 429s, and retries; 4. cache hits;
5. signs of a ban. `metrics` counts them, `rolling` over the last seconds, `windows` over closed stretches, `trend`
decides what to do about them. Pure but for reading the log.
"""
