def status() -> None:
    raise NotImplementedError
