"""A job for a cluster, in a process of its own: an executor is killed in the stages named.

    python cluster_job.py MASTER IN OUT STAGES [PERSON]

PERSON names the column that says who a record is about.
Prints one JSON document: the stages in which an executor was killed, and whether somebody
who looked all the time saw the output before it was whole.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

from tests.engines.spark.tables import PROMISE, schema

from shoal import api
from shoal.engines.spark.session import session

SETTINGS = {
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.codegen.wholeStage": "false",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.executor.memory": "1g",
    "spark.executor.cores": "1",
    "spark.speculation": "true",
}


def executors(app):
    """Return the process ids of this application's executors."""
    found = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            words = place.read_bytes().decode(errors="ignore").split("\0")
            is_ours = "org.apache.spark.executor.CoarseGrainedExecutorBackend" in words
            if is_ours and app in words and words[0].endswith("java"):
                found.append(int(place.parent.name))
    return sorted(found)


class Killer(threading.Thread):
    """Ends an executor as soon as a stage named has a job with running tasks."""

    def __init__(self, context, out, wanted):
        super().__init__(daemon=True)
        self.context, self.out, self.wanted = context, out, list(wanted)
        self.stage, self.killed, self.seen, self.done = "", [], False, False

    def run(self):
        tracker = self.context.statusTracker()
        while not self.done:
            self.seen = self.seen or self.out.exists()
            if self.stage in self.wanted and self._is_busy(tracker):
                victims = executors(self.context.applicationId)
                if victims:
                    os.kill(victims[0], signal.SIGKILL)
                    self.wanted.remove(self.stage)
                    self.killed.append(self.stage)
            time.sleep(0.01)

    def _is_busy(self, tracker):
        for stage in tracker.getActiveStageIds():
            told = tracker.getStageInfo(stage)
            if told is not None and told.numActiveTasks:
                return True
        return False


def main(master, source, out, stages, person=""):
    spark = session(master, SETTINGS)
    killer = Killer(spark.sparkContext, Path(out), [s for s in stages.split(",") if s])
    killer.start()

    def progress(stage):
        killer.stage = stage
        if stage == "write":  # what follows is the rename
            killer.done = True

    options = {"partitions": 3, "partition_by": "random", "seed": 4, "progress": progress}
    known = schema().with_person([person]) if person else schema()
    made = api.anonymize(api.SparkTable(source), known, privacy=PROMISE, out=out, **options)
    told = {"killed": killer.killed, "seen": killer.seen, "released": made.report.released}
    print(json.dumps(told))
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
