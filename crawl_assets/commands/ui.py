def ui() -> None:
    raise NotImplementedError
