"""Lets `python -m shoal` be the command."""

import sys

from shoal.cli.main import main

sys.exit(main())
