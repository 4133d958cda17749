"""`GeneratedTrajectorySchema` as MEDS_trajectory_evaluation 0.0.6 defines it, without the package.

The package itself brings hydra and MEDS-transforms along; its schema is the MEDS data schema and
one column more. (No postponed annotations here: the schema is made of them.)
"""

import pyarrow as pa
from flexible_schema import Required
from meds import DataSchema


class GeneratedTrajectorySchema(DataSchema):
    """MEDS data, and when the observed part of the trajectory ends."""

    prediction_time: Required(pa.timestamp("us"), nullable=False)
