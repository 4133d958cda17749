"""The one loop that continues visits: chance, decoding, END, the cap and stopping are its own."""

import os

# Before torch is loaded: threads that wait leave the processor alone. On a machine with other work
# a step then takes a third of the time (docs/log.md); where it is set otherwise, that counts.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
