"""The command line, as ``python -m genesig``."""

import sys

from genesig.cli import main

sys.exit(main())
