"""Continue visits in a small simulated emergency department (SimPy).

    python simpy_department.py prefixes.csv rollouts.csv --draws 2

Every prefix is put into a department that is already busy: other patients hold beds, more of them
arrive, and ours waits in the same queue. What has happened before the launch decides where the
visit goes on: before triage, in the waiting room, or in a bed. The numbers are made up.
"""

import argparse
import csv
import math
import random
from itertools import groupby

import simpy

ENTER, TRIAGE, VITALS = "Enter the ED", "Triage in the ED", "Vital sign check"
RECONCILE, DISPENSE, DISCHARGE = (
    "Medicine reconciliation",
    "Medicine dispensations",
    "Discharge from the ED",
)
END = "END"

BEDS, NURSES = 12, 2
MINUTES_BETWEEN_ARRIVALS = 16.0
MINUTES_IN_BED = 190.0


class Department:
    """Beds and triage nurses, and the other patients who use them."""

    def __init__(self, chance):
        self.env = simpy.Environment()
        self.chance = chance
        self.beds = simpy.Resource(self.env, BEDS)
        self.nurses = simpy.Resource(self.env, NURSES)
        for _ in range(BEDS + chance.randint(-3, 3)):  # already there; some wait for a bed
            self.env.process(self.other_patient())
        self.env.process(self.other_arrivals())

    def other_arrivals(self):
        """More patients, for as long as ours is there."""
        while True:
            yield self.env.timeout(self.chance.expovariate(1 / MINUTES_BETWEEN_ARRIVALS))
            self.env.process(self.other_patient())

    def other_patient(self):
        """Waits for a bed and keeps it for a while."""
        with self.beds.request() as bed:
            yield bed
            yield self.env.timeout(self.chance.expovariate(1 / MINUTES_IN_BED))


class Patient:
    """The visit that is continued: it knows its prefix and writes down what follows."""

    def __init__(self, department, prefix):
        self.department = department
        self.env = department.env
        self.chance = department.chance
        self.seen = [activity for activity, _ in prefix]
        self.elapsed = sum(minutes for _, minutes in prefix)
        self.suffix = []
        self.last = self.env.now
        self.bed = None
        if any(activity in (VITALS, RECONCILE, DISPENSE) for activity in self.seen):
            self.bed = department.beds.request()  # had it before everybody else

    def record(self, activity):
        """An event now; its gap is the time since the event before it."""
        self.suffix.append((activity, self.env.now - self.last))
        self.seen.append(activity)
        self.last = self.env.now

    def visit(self):
        """The rest of the visit, from wherever the prefix ends."""
        if DISCHARGE not in self.seen:
            if TRIAGE not in self.seen:
                yield from self.triage()
            if self.bed is None:
                self.bed = self.department.beds.request()  # the end of the queue
            yield self.bed
            yield from self.care()
            self.department.beds.release(self.bed)
            self.record(DISCHARGE)
        self.record(END)

    def triage(self):
        with self.department.nurses.request() as nurse:
            yield nurse
            yield self.env.timeout(self.chance.uniform(1, 8))
            self.record(TRIAGE)

    def care(self):
        """Rounds of checks and medicine until the patient may leave."""
        leaves = self.env.now + self.minutes_left()
        if RECONCILE not in self.seen and self.chance.random() < 0.7:
            yield self.env.timeout(self.chance.expovariate(1 / 20))
            for _ in range(self.chance.randint(1, 12)):  # a list is written down at once
                self.record(RECONCILE)
        while self.env.now < leaves:
            yield self.env.timeout(self.chance.expovariate(1 / 70))
            self.record(VITALS)
            if self.chance.random() < 0.35:
                yield self.env.timeout(self.chance.expovariate(1 / 15))
                for _ in range(self.chance.randint(1, 3)):
                    self.record(DISPENSE)
        yield self.env.timeout(self.chance.expovariate(1 / 10))

    def minutes_left(self):
        """A log-normal stay that is longer than what has passed already; a little at least."""
        for _ in range(20):
            stay = self.chance.lognormvariate(math.log(MINUTES_IN_BED), 0.7)
            if stay > self.elapsed:
                return stay - self.elapsed
        return self.chance.expovariate(1 / 60)


def continue_visit(prefix, chance, cap):
    """(activity, minutes) after the launch, until END or the cap."""
    department = Department(chance)
    patient = Patient(department, prefix)
    department.env.run(until=department.env.process(patient.visit()))
    return patient.suffix[:cap]


def read_prefixes(path):
    """(stay_id, prefix_length) and its [(activity, minutes), ...], launch by launch."""
    with open(path, newline="") as stream:
        rows = csv.DictReader(stream)
        for launch, events in groupby(rows, key=lambda r: (r["stay_id"], r["prefix_length"])):
            yield launch, [(event["activity"], float(event["minutes"])) for event in events]


def main():
    """Continue every prefix `draws` times."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("prefixes", help="from `edsim cohort launches C --csv --out prefixes.csv`")
    parser.add_argument("rollouts", help="the CSV to write")
    parser.add_argument("--draws", type=int, default=1, help="continuations of each prefix")
    parser.add_argument("--cap", type=int, default=128, help="longest continuation, END counted")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with open(options.rollouts, "w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["stay_id", "prefix_length", "draw", "position", "activity", "minutes"])
        for (stay_id, length), prefix in read_prefixes(options.prefixes):
            for draw in range(options.draws):
                # chance by name: the order and number of launches change nothing
                chance = random.Random(f"{options.seed} {stay_id} {length} {draw}")
                suffix = continue_visit(prefix, chance, options.cap)
                for position, (activity, minutes) in enumerate(suffix, start=1):
                    writer.writerow([stay_id, length, draw, position, activity, minutes])


if __name__ == "__main__":
    main()
