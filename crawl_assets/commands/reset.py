def reset() -> None:
    raise NotImplementedError
