"""`python -m edsim` is the command `edsim`."""

from edsim.cli import main

main()
