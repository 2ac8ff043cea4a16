def sql() -> None:
    raise NotImplementedError
