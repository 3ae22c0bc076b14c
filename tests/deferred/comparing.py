"""Judges what `recording` has kept on a Dask cluster of two processes, and holds it against the reports of the runs.

`python -m tests.deferred.comparing FOLDER`, in a program of its own as users have it, prints what differs as JSON.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from gradproof.deferred.examine import judge_all, opened
from gradproof.deferred.joined import joined
from tests.deferred.recording import comparable


def compared(base: Path, scheduler: str) -> dict[str, Any]:
    folders = sorted(base.iterdir(), key=lambda folder: int(folder.name))
    work = [opened(str(folder)) for folder in folders]
    n_judged = sum(
        step.judged is not None for step in judge_all([w for one in work for w in one], 1, scheduler)
    )
    differing, not_kept = {}, 0
    for folder, own in zip(folders, work, strict=True):
        told = json.loads((folder / "in_place.json").read_text(encoding="utf-8"))
        later = json.loads(json.dumps(comparable(joined(own))))
        not_kept += told["not_kept"]
        if later != told["report"]:
            differing[told["report"]["script"]["path"]] = [told["report"], later]
    return {"judged": n_judged, "scripts": len(work), "not_kept": not_kept, "differing": differing}


if __name__ == "__main__":
    from distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50) as cluster:
        print(json.dumps(compared(Path(sys.argv[1]), cluster.scheduler_address)))
