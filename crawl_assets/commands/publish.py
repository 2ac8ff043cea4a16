def publish() -> None:
    raise NotImplementedError
