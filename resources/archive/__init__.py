"""Between the page store and WARC files: `export` writes one, `intake` fills page store and frontier from one."""
