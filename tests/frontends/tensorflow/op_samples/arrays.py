"""Ops that move, cut, join, gather and scatter entries."""

from __future__ import annotations

import tensorflow as tf
from tests.frontends.tensorflow.op_samples._sample import Numbers, Sample, sample

raw = tf.raw_ops
d = Numbers(2)
f = Numbers(3, "float32")

ROWS = [[2], [0], [2]]

SAMPLES: dict[str, Sample] = {
    "Reshape": sample(lambda x: tf.reshape(x, [3, 2]), d.any(2, 3)),
    "ExpandDims": sample(lambda x: tf.expand_dims(x, 1), d.any(2, 3)),
    "Squeeze": sample(lambda x: tf.squeeze(x, 1), d.any(2, 1, 3)),
    "BroadcastTo": sample(lambda x: tf.broadcast_to(x, [2, 3]), d.any(3)),
    "Fill": sample(lambda x: tf.fill([2, 3], x), d.any()),
    "Tile": sample(lambda x: tf.tile(x, [2, 3]), d.any(2, 3)),
    "Transpose": sample(lambda x: tf.transpose(x, [2, 0, 1]), d.any(2, 3, 4)),
    "ConjugateTranspose": sample(lambda x: tf.transpose(x, conjugate=True), d.complex(2, 3)),
    "ConcatV2": sample(lambda x, y: tf.concat([x, y], 1), d.any(2, 3), d.any(2, 1)),
    "Concat": sample(lambda x, y: raw.Concat(concat_dim=1, values=[x, y]), d.any(2, 3), d.any(2, 1)),
    "Pack": sample(lambda x, y: tf.stack([x, y], 1), d.any(2, 3), d.any(2, 3)),
    "Unpack": sample(lambda x: tf.unstack(x, axis=1), d.any(3, 4)),
    "Split": sample(lambda x: tf.split(x, 2, 1), d.any(3, 4)),
    "SplitV": sample(lambda x: tf.split(x, [1, 3], 1), d.any(3, 4)),
    "StridedSlice": sample(lambda x: x[1:, ::-2, 0, None], d.any(3, 5, 2)),
    "StridedSlice ellipsis": sample(lambda x: x[..., -1], d.any(3, 5, 2)),
    "StridedSliceGrad": sample(
        lambda g: raw.StridedSliceGrad(shape=[5], begin=[3], end=[0], strides=[-1], dy=g), d.any(3)
    ),
    "TensorStridedSliceUpdate": sample(
        lambda x, v: raw.TensorStridedSliceUpdate(input=x, begin=[0, 1], end=[2, 3], strides=[1, 1], value=v),
        d.any(3, 4), d.any(2, 2),
    ),
    "Slice": sample(lambda x: tf.slice(x, [1, 0], [2, -1]), d.any(3, 5)),
    "Pad": sample(lambda x: tf.pad(x, [[1, 0], [2, 1]]), d.any(3, 4)),
    "PadV2": sample(
        lambda x, v: raw.PadV2(input=x, paddings=[[1, 0], [2, 1]], constant_values=v), d.any(3, 4), d.any(),
        verdicts=("correct", "missing"), why="no gradient for the value that is padded with",
    ),
    "MirrorPad": sample(lambda x: tf.pad(x, [[1, 0], [2, 1]], "REFLECT"), d.any(3, 4)),
    "MirrorPad symmetric": sample(lambda x: tf.pad(x, [[1, 0], [2, 1]], "SYMMETRIC"), d.any(3, 4)),
    "MirrorPadGrad": sample(lambda g: raw.MirrorPadGrad(input=g, paddings=[[1, 2]], mode="REFLECT"), d.any(6)),
    "ReverseV2": sample(lambda x: tf.reverse(x, [1]), d.any(3, 4)),
    "Reverse": sample(lambda x: raw.Reverse(tensor=x, dims=[False, True]), d.any(3, 4)),
    "ReverseSequence": sample(
        lambda x: tf.reverse_sequence(x, [2, 4, 1], seq_axis=1, batch_axis=0), d.any(3, 4)
    ),
    "Roll": sample(lambda x: tf.roll(x, [1, 2], [0, 1]), d.any(3, 4)),
    "Gather": sample(lambda x: raw.Gather(params=x, indices=[2, 0, 2]), d.any(3, 4)),
    "GatherV2": sample(lambda x: tf.gather(x, [[2, 0], [2, 1]], axis=1), d.any(3, 4, 2)),
    "GatherV2 in batches": sample(
        lambda x: tf.gather(x, [[2, 0], [2, 1], [0, 0]], axis=2, batch_dims=1), d.any(3, 4, 3, 2)
    ),
    "GatherNd": sample(lambda x: tf.gather_nd(x, [[2, 0], [2, 1]]), d.any(3, 4)),
    "ScatterNd": sample(lambda x: tf.scatter_nd(ROWS, x, [4, 2]), d.any(3, 2)),
    "ScatterNdNonAliasingAdd": sample(
        lambda x, v: raw.ScatterNdNonAliasingAdd(input=x, indices=ROWS, updates=v), d.any(4, 2), d.any(3, 2)
    ),
    "TensorScatterUpdate": sample(
        lambda x, v: tf.tensor_scatter_nd_update(x, [[0], [2]], v), d.any(3, 4), d.any(2, 4)
    ),
    "TensorScatterAdd": sample(lambda x, v: tf.tensor_scatter_nd_add(x, ROWS, v), d.any(4, 2), d.any(3, 2)),
    "TensorScatterSub": sample(lambda x, v: tf.tensor_scatter_nd_sub(x, ROWS, v), d.any(4, 2), d.any(3, 2)),
    "TensorScatterMax": sample(
        lambda x, v: tf.tensor_scatter_nd_max(x, [[2], [0], [1]], v), d.any(4, 2), d.any(3, 2)
    ),
    "TensorScatterMin": sample(
        lambda x, v: tf.tensor_scatter_nd_min(x, [[2], [0], [1]], v), d.any(4, 2), d.any(3, 2)
    ),
    "DynamicStitch": sample(
        lambda x, v: tf.dynamic_stitch([[0, 2], [1, 3]], [x, v]), d.any(2, 2), d.any(2, 2)
    ),
    "DynamicStitch overlapping": sample(
        lambda x, v: tf.dynamic_stitch([[0, 1], [1, 2]], [x, v]), d.any(2), d.any(2),
        verdicts=("wrong", "correct"), why="gradients for rows that were overwritten",
    ),
    "ParallelDynamicStitch": sample(
        lambda x, v: raw.ParallelDynamicStitch(indices=[[0, 2], [1, 3]], data=[x, v]), d.any(2, 2), d.any(2, 2)
    ),
    "DynamicPartition": sample(lambda x: tf.dynamic_partition(x, [0, 1, 0], 2), d.any(3, 2)),
    "OneHot": sample(
        lambda x, y: raw.OneHot(indices=[0, 2], depth=3, on_value=x, off_value=y), d.any(), d.any(),
        verdicts="missing", why="no gradient registered",
    ),
    "SpaceToDepth": sample(lambda x: tf.nn.space_to_depth(x, 2), f.any(1, 4, 2, 3)),
    "DepthToSpace": sample(lambda x: tf.nn.depth_to_space(x, 2), f.any(1, 2, 3, 8)),
    "SpaceToBatchND": sample(lambda x: tf.space_to_batch(x, [2, 1], [[1, 0], [0, 1]]), d.any(1, 3, 2, 3)),
    "BatchToSpaceND": sample(lambda x: tf.batch_to_space(x, [2, 1], [[1, 0], [0, 1]]), d.any(4, 3, 2, 3)),
    "SpaceToBatch": sample(
        lambda x: raw.SpaceToBatch(input=x, block_size=2, paddings=[[1, 0], [0, 0]]), d.any(1, 3, 2, 3)
    ),
    "BatchToSpace": sample(
        lambda x: raw.BatchToSpace(input=x, block_size=2, crops=[[1, 0], [0, 0]]), d.any(4, 3, 2, 3)
    ),
    "ExtractImagePatches": sample(
        lambda x: tf.image.extract_patches(x, [1, 2, 2, 1], [1, 2, 1, 1], [1, 1, 2, 1], "SAME"), d.any(2, 4, 3, 2)
    ),
    "ExtractVolumePatches": sample(
        lambda x: tf.extract_volume_patches(x, [1, 2, 2, 1, 1], [1, 2, 1, 1, 1], "SAME"), d.any(1, 4, 3, 2, 2)
    ),
}  # fmt: skip
