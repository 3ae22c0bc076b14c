"""One small call or more of every TensorFlow op that has a lowering; the tables are the files of this folder."""

from __future__ import annotations

import importlib
import pkgutil

from tests.frontends.tensorflow.op_samples._sample import Sample

SAMPLES: dict[str, Sample] = {}
for _module in pkgutil.iter_modules(__path__):
    if not _module.name.startswith("_"):
        for _name, _sample in importlib.import_module(f"{__name__}.{_module.name}").SAMPLES.items():
            assert _name not in SAMPLES, _name
            SAMPLES[_name] = _sample
