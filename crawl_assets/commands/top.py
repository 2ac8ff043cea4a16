def top() -> None:
    raise NotImplementedError
