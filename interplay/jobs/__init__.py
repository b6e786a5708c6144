"""Do many jobs at once: in processes of this machine, or as tasks of a Ray cluster.

`Executor(processes=2).map(function, {key: arguments})` yields a `Done` for each job as soon as it ends. A function is known by
its name; its arguments and its result are JSON, or bytes of our formats. Other processes get their data folder and database
from their environment (`Place`). `design/jobs.md` says why.
"""

from interplay.jobs.errors import JobsError, LostError, UnexpectedError
from interplay.jobs.executor import Done, Executor, Worker
from interplay.jobs.place import Place

__all__ = ["Done", "Executor", "JobsError", "LostError", "Place", "UnexpectedError", "Worker"]
