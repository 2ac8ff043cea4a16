def init() -> None:
    raise NotImplementedError
