"""Pages on S3 or any store with its interface, shared by any number of machines."""

from resources.pages.s3.store import S3Pages

__all__ = ["S3Pages"]
