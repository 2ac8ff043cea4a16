"""The tables: parsed, loaded, audited, published.

parse/            stored pages to Parquet files, in supervised processes; never opens DuckDB
load/             staged files, fetch log, frontier and ledger into warehouse.duckdb: one short, serialized step
publish/          what passed the audit into published.duckdb, replaced whole
read.py           the published tables for readers: never locked
csv_export.py     tables as CSV that is safe to open in a spreadsheet
item_tables.py    item types as tables that follow the site files
sql/              all tables with the meaning of every column, and the statements of the steps
folders.py        what is where on disk
"""
