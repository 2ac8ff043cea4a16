"""The crawler's parts. Imported before any of them: OpenBLAS, which numpy brings along, starts a thread a processor that
spins for some 50 ms of CPU and never gets work from us. Who wants it otherwise sets the variable.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
