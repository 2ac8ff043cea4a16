def retry() -> None:
    raise NotImplementedError
