"""Sums, extremes, running sums, groups, order."""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from tests.frontends.tensorflow.op_samples._sample import Numbers, Sample, sample

raw = tf.raw_ops
d = Numbers(4)


def _reduce(name: str) -> Any:
    return lambda x: getattr(raw, name)(input=x, axis=[0, 2], keep_dims=False)


def _sparse(function: Any, **options: Any) -> Any:
    return lambda x: function(x, [2, 0, 2], [0, 0, 1], **options)


SAMPLES: dict[str, Sample] = {
    **{
        name: sample(_reduce(name), d.any(2, 3, 2))
        for name in ["Sum", "Mean", "Prod", "Max", "Min", "EuclideanNorm"]
    },
    "Cumsum": sample(lambda x: tf.cumsum(x, 1, exclusive=True, reverse=True), d.any(2, 3)),
    "Cumprod": sample(lambda x: tf.math.cumprod(x, 1), d.any(2, 3)),
    "Cumprod exclusive": sample(lambda x: tf.math.cumprod(x, 1, exclusive=True, reverse=True), d.any(2, 3)),
    "CumulativeLogsumexp": sample(
        lambda x: tf.math.cumulative_logsumexp(x, axis=1), d.any(3, 3), is_bounded=False
    ),
    "ArgMax": sample(lambda x: x * tf.cast(tf.argmax(x), x.dtype), d.any(4)),
    "ArgMin": sample(lambda x: x * tf.cast(tf.argmin(x), x.dtype), d.any(4)),
    "SegmentSum": sample(lambda x: tf.math.segment_sum(x, [0, 0, 2]), d.any(3, 2)),
    "SegmentMean": sample(lambda x: tf.math.segment_mean(x, [0, 0, 2]), d.any(3, 2)),
    "SegmentProd": sample(lambda x: tf.math.segment_prod(x, [0, 0, 2]), d.any(3, 2)),
    "SegmentMax": sample(lambda x: tf.math.segment_max(x, [0, 0, 2]), d.any(3, 2)),
    "SegmentMin": sample(lambda x: tf.math.segment_min(x, [0, 0, 2]), d.any(3, 2)),
    "UnsortedSegmentSum": sample(lambda x: tf.math.unsorted_segment_sum(x, [2, 0, -1], 3), d.any(3, 2)),
    "UnsortedSegmentProd": sample(lambda x: tf.math.unsorted_segment_prod(x, [2, 0, 2], 3), d.any(3, 2)),
    "UnsortedSegmentMax": sample(lambda x: tf.math.unsorted_segment_max(x, [1, 0, 1], 2), d.any(3, 2)),
    "UnsortedSegmentMin": sample(lambda x: tf.math.unsorted_segment_min(x, [1, 0, 1], 2), d.any(3, 2)),
    "UnsortedSegmentMean": sample(lambda x: tf.math.unsorted_segment_mean(x, [2, 0, 2], 3), d.any(3, 2)),
    "SparseSegmentSum": sample(_sparse(tf.sparse.segment_sum), d.any(3, 2)),
    "SparseSegmentMean": sample(_sparse(tf.sparse.segment_mean), d.any(3, 2)),
    "SparseSegmentSqrtN": sample(_sparse(tf.sparse.segment_sqrt_n), d.any(3, 2)),
    "SparseSegmentSumWithNumSegments": sample(_sparse(tf.sparse.segment_sum, num_segments=4), d.any(3, 2)),
    "SparseSegmentMeanWithNumSegments": sample(_sparse(tf.sparse.segment_mean, num_segments=4), d.any(3, 2)),
    "SparseSegmentSqrtNWithNumSegments": sample(
        _sparse(tf.sparse.segment_sqrt_n, num_segments=4), d.any(3, 2)
    ),
    "TopKV2": sample(lambda x: tf.math.top_k(x, 2)[0], d.any(3, 4)),
    "sort": sample(tf.sort, d.any(3, 4)),
    "NthElement": sample(lambda x: raw.NthElement(input=x, n=1), d.any(3, 4)),
}
