"""Judges what a running program keeps, in processes beside it: `gradproof run --jobs`.

One child process follows the folder that the program's calls are kept in, and has them judged as they come. So the
program itself has no socket and no event loop of ours in it, and a thread only while a call is written.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, replace

from gradproof.audit.budget import Budget
from gradproof.cluster.workers import Done, demand_cluster, workers
from gradproof.deferred.examine import PartWork, give_up, open_tasks, opened, results
from gradproof.deferred.joined import joined
from gradproof.deferred.keeping import FolderKeeper, keeper_in
from gradproof.deferred.model import Ended
from gradproof.diagnosis.report import Report
from gradproof.options import Options

PAUSE = 0.1  # seconds between two looks at a folder in which nothing is new
INTERRUPTED = "interrupted: Ctrl-C came before it was judged"
GONE = "the processes that judge beside the program have ended before it was judged"


@dataclass(eq=False)
class Follower:
    """A folder of a running program, and the child process that judges what comes into it."""

    folder: str
    keeper: FolderKeeper
    child: subprocess.Popen[bytes]

    def report(self, ended: Ended) -> tuple[Report, bool]:
        """The program has ended: wait for what is still to be judged. Whether Ctrl-C ended the waiting, too."""
        is_interrupted = False
        try:
            self.keeper.end(ended)
            self.child.wait()
        except KeyboardInterrupt:
            is_interrupted = True
        self.child.kill()
        self.child.wait()
        work = opened(self.folder)
        give_up(open_tasks(work), INTERRUPTED if is_interrupted else GONE)
        try:
            return joined(work), is_interrupted
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)


def following(jobs: int, budget: Budget, options: Options) -> Follower:
    """Begin to judge beside the program, in so many processes."""
    demand_cluster(jobs)
    folder = tempfile.mkdtemp(prefix="gradproof-")
    keeper = keeper_in(folder, options)
    seconds = "" if budget.seconds is None else repr(budget.seconds)
    # In a folder of its own, no module of the user's is taken for another one; in a session of its own, Ctrl-C is the
    # program's.
    child = subprocess.Popen(
        [sys.executable, "-m", __name__, folder, str(jobs), seconds, budget.option],
        cwd=folder,
        start_new_session=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    return Follower(folder, keeper, child)


def follow(folder: str, jobs: int, budget: Budget) -> None:
    """Judge what comes into the folder until the program has ended, or the time for it is used up."""
    parent = os.getppid()
    work = opened(folder)
    with workers(jobs) as done:
        while os.getppid() == parent:
            has_ended = all(one.part.has_ended for one in work)  # before the last look at what is there
            if not _judged_more(work, jobs, budget, done) and has_ended:
                return
            time.sleep(PAUSE)


def _judged_more(work: list[PartWork], jobs: int, budget: Budget, done: Done) -> bool:
    """Whether there was something new."""
    for one in work:
        one.look_again()
    tasks = open_tasks(work, jobs)
    if budget.is_used_up:
        give_up(tasks, budget.reason)
    elif tasks:
        if budget.left is not None:  # several are judged at a time
            share = budget.left / min(jobs, len(tasks)), budget.overrun_reason
            tasks = {name: replace(task, limit=share) for name, task in tasks.items()}
        for result in results(done, tasks):
            budget.spent += result.seconds
            if budget.is_used_up:
                break  # what is left of these is looked at again, and given up
    return bool(tasks)


if __name__ == "__main__":
    place, count, limit, option = sys.argv[1:]
    follow(place, int(count), Budget(float(limit) if limit else None, option=option))
