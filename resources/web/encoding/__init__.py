"""Character encodings as browsers treat them: WHATWG labels, sniffing and decoders.

    body, decision = to_utf8(response_body, response_content_type)

`decision.encoding` is a WHATWG name, `decision.source` what decided it. The parser only ever gets UTF-8.
"""

from __future__ import annotations

from .decoding import decode
from .labels import ENCODINGS, encoding_for_label, labels_of
from .prescan import html_prescan
from .sniffing import DEFAULT_ENCODING, Decision, Source, declared, sniff
from .utf8 import to_utf8

__all__ = [
    "DEFAULT_ENCODING",
    "ENCODINGS",
    "Decision",
    "Source",
    "declared",
    "decode",
    "encoding_for_label",
    "html_prescan",
    "labels_of",
    "sniff",
    "to_utf8",
]
