"""Structured data of a page: JSON-LD, microdata, RDFa, microformats, Open Graph, Dublin Core; paths into it; a summary.

data = extract(tree, "https://shop.example/p/1")
lookup(data, "jsonld:Product.offers.price")        # -> ["12.50"]
"""

from __future__ import annotations

from . import microformats, rdfa
from .dublin_core import DublinCore
from .extract import StructuredData, extract
from .lookup import Path, compile_path, lookup
from .summary import Summary, summarize

__all__ = [
    "DublinCore",
    "Path",
    "StructuredData",
    "Summary",
    "compile_path",
    "extract",
    "lookup",
    "microformats",
    "rdfa",
    "summarize",
]
