def import_warc() -> None:
    raise NotImplementedError
