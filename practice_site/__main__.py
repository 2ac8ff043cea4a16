"""`python -m practice_site`."""

import sys

from practice_site.command import main

if __name__ == "__main__":
    sys.exit(main())
