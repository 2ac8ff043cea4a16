def why() -> None:
    raise NotImplementedError
