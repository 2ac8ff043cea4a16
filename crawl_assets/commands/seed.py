def seed() -> None:
    raise NotImplementedError
