"""Where staged rows, the warehouse and the published database are kept: one folder, or an object store.

base.py     what parse steps, the loader and readers ask of it
folder.py   a folder, of one machine or shared by several: the default
objects.py  an object store: parse steps and loaders on any machine
head.py     the object that says which warehouse counts and whose turn it is to load
copies.py   this machine's copies of the store's databases, and when they still hold
staged.py   batches as objects: written by parse steps, fetched by the loader
open.py     from the setting `tables` to one of the two
"""

from __future__ import annotations

from .base import TableStorage, Warehouse
from .open import open_tables

__all__ = ["TableStorage", "Warehouse", "open_tables"]
