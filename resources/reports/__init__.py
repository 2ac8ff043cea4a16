"""The report of a night: facts in, one self-contained HTML page and Markdown out.

`facts.py` says what there is to tell, `read.py` gathers it from the published tables and the frontier, `needs.py`
decides what a human has to do, `page.py`, `sections.py`, `charts.py` and `markdown.py` write it. All but `read.py`
and `store.py` are pure.
"""
