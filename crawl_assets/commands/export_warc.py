def export_warc() -> None:
    raise NotImplementedError
