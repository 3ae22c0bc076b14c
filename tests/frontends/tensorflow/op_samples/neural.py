"""Layers: softmax, convolutions, pooling, normalisation, quantisation."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf
from tests.frontends.tensorflow.op_samples._sample import Numbers, Sample, sample

raw = tf.raw_ops
d = Numbers(7)
f = Numbers(8, "float32")

LABELS = np.array([[0.25, 0.75], [0.5, 0.5], [1.0, 0.0]])
STAIRCASE = "the op is a staircase, its registered gradient the identity inside the range"


def _batch_norm(name: str, **options: Any) -> Any:
    given = {"mean": [], "variance": [], "is_training": True, **options}
    return lambda x, scale, offset: getattr(raw, name)(x=x, scale=scale, offset=offset, **given)[0]


def _conv(**options: Any) -> Any:
    return lambda x, k: tf.nn.conv2d(x, k, **{"strides": 1, "padding": "VALID", **options})


def _ctc(**options: Any) -> Any:
    """Labels of different lengths, one with a repeated symbol; the last example is shorter than the others."""
    places = [[0, 0], [0, 1], [1, 0], [1, 1], [1, 2], [2, 0]]
    labels = tf.SparseTensor(places, np.array([1, 2, 2, 2, 1, 0], np.int32), [3, 3])
    return lambda x: tf.compat.v1.nn.ctc_loss(labels, x, [6, 5, 3], **options)


def _lstm(name: str, **options: Any) -> Any:
    """Three steps of two examples with four cells; the cells and what comes out of them."""

    def call(x: Any, c: Any, h: Any, w: Any, b: Any, *peepholes: Any) -> Any:
        peep = peepholes or 3 * (np.zeros(4, np.float32),)
        given = dict(zip(("wci", "wcf", "wco"), peep), x=x, cs_prev=c, h_prev=h, w=w, b=b)
        steps = np.array(3, np.int64)
        done = getattr(raw, name)(seq_len_max=steps, use_peephole=bool(peepholes), **given, **options)
        return done.cs, done.h

    return call


def _lstm_numbers() -> tuple[Any, ...]:
    return f.any(3, 2, 3), f.share(2, 4), f.share(2, 4), f.any(7, 16), f.any(16)


SAMPLES: dict[str, Sample] = {
    "IsotonicRegression": sample(
        lambda x: raw.IsotonicRegression(input=x, output_dtype=x.dtype).output, d.any(3, 7)
    ),
    "BlockLSTM": sample(_lstm("BlockLSTM", forget_bias=1.0, cell_clip=0.0), *_lstm_numbers()),
    "BlockLSTM with peepholes": sample(
        _lstm("BlockLSTM", forget_bias=0.3, cell_clip=50.0), *_lstm_numbers(), f.any(4), f.any(4), f.any(4)
    ),
    "BlockLSTMV2": sample(
        _lstm("BlockLSTMV2", cell_clip=0.0), *_lstm_numbers(),
        verdicts="wrong", why="its gradient takes the gates in the order of the first version",
    ),
    "CTCLoss": sample(_ctc(), f.any(6, 3, 4)),
    "CTCLoss without merging": sample(_ctc(ctc_merge_repeated=False), f.any(6, 3, 4)),
    "CTCLoss of collapsed labels": sample(_ctc(preprocess_collapse_repeated=True), f.any(6, 3, 4)),
    "Softmax": sample(tf.nn.softmax, d.any(3, 2)),
    "LogSoftmax": sample(tf.nn.log_softmax, d.any(3, 2)),
    "SoftmaxCrossEntropyWithLogits": sample(
        lambda x, p: tf.nn.softmax_cross_entropy_with_logits(p, x), d.any(3, 2), LABELS
    ),
    "SoftmaxCrossEntropyWithLogits of weights": sample(
        lambda x: tf.nn.softmax_cross_entropy_with_logits(3 * LABELS, x), d.any(3, 2),
        verdicts="wrong", why="the gradient is right only where the labels of a row sum to 1",
    ),
    "SparseSoftmaxCrossEntropyWithLogits": sample(
        lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits([1, 0, 2], x), d.any(3, 3)
    ),
    "BiasAdd": sample(tf.nn.bias_add, d.any(2, 3, 4), d.any(4)),
    "BiasAdd to planes": sample(lambda x, b: tf.nn.bias_add(x, b, "NCHW"), f.any(1, 2, 3, 3), f.any(2)),
    "BiasAddV1": sample(lambda x, b: raw.BiasAddV1(value=x, bias=b), d.any(2, 3), d.any(3)),
    "Conv2D": sample(_conv(strides=[1, 2, 1, 1], padding="SAME"), d.any(2, 5, 4, 3), d.any(3, 2, 3, 2)),
    "Conv2D padded": sample(
        _conv(strides=2, padding=[[0, 0], [1, 2], [0, 1], [0, 0]]), d.any(2, 5, 5, 3), d.any(2, 2, 3, 2)
    ),
    "Conv2D grouped": sample(_conv(), f.any(1, 4, 4, 4), f.any(2, 2, 2, 4)),
    "Conv2DBackpropInput": sample(
        lambda x, k: tf.nn.conv2d_transpose(x, k, [2, 6, 6, 3], 2, "SAME"), d.any(2, 3, 3, 2), d.any(3, 3, 3, 2)
    ),
    "Conv2DBackpropFilter": sample(
        lambda x, g: raw.Conv2DBackpropFilter(
            input=x, filter_sizes=[2, 2, 2, 3], out_backprop=g, strides=[1, 1, 1, 1], padding="VALID"
        ),
        d.any(1, 4, 3, 2), d.any(1, 3, 2, 3),
    ),
    "Conv3D": sample(
        lambda x, k: tf.nn.conv3d(x, k, [1, 1, 2, 1, 1], "SAME"), d.any(1, 3, 4, 3, 2), d.any(2, 2, 2, 2, 2)
    ),
    "Conv3DBackpropInputV2": sample(
        lambda x, k: tf.nn.conv3d_transpose(x, k, [1, 4, 4, 4, 2], 2, "SAME"),
        d.any(1, 2, 2, 2, 1), d.any(2, 2, 2, 2, 1),
    ),
    "Conv3DBackpropFilterV2": sample(
        lambda x, g: raw.Conv3DBackpropFilterV2(
            input=x, filter_sizes=[2, 2, 1, 1, 2], out_backprop=g, strides=[1, 1, 1, 1, 1], padding="VALID"
        ),
        d.any(1, 3, 3, 2, 1), d.any(1, 2, 2, 2, 2),
    ),
    "DepthwiseConv2dNative": sample(
        lambda x, k: tf.nn.depthwise_conv2d(x, k, [1, 2, 2, 1], "SAME"), d.any(2, 5, 4, 3), d.any(3, 2, 3, 2)
    ),
    "DepthwiseConv2dNativeBackpropInput": sample(
        lambda k, g: raw.DepthwiseConv2dNativeBackpropInput(
            input_sizes=[1, 3, 3, 2], filter=k, out_backprop=g, strides=[1, 1, 1, 1], padding="VALID"
        ),
        d.any(2, 2, 2, 1), d.any(1, 2, 2, 2),
    ),
    "DepthwiseConv2dNativeBackpropFilter": sample(
        lambda x, g: raw.DepthwiseConv2dNativeBackpropFilter(
            input=x, filter_sizes=[2, 2, 2, 1], out_backprop=g, strides=[1, 1, 1, 1], padding="VALID"
        ),
        d.any(1, 3, 3, 2), d.any(1, 2, 2, 2),
    ),
    "AvgPool": sample(lambda x: tf.nn.avg_pool2d(x, 3, 2, "SAME"), d.any(2, 5, 4, 3)),
    "AvgPool3D": sample(lambda x: tf.nn.avg_pool3d(x, 2, 2, "SAME"), f.any(1, 3, 4, 3, 2)),
    "AvgPoolGrad": sample(
        lambda g: raw.AvgPoolGrad(
            orig_input_shape=[1, 4, 4, 1], grad=g, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID"
        ),
        d.any(1, 2, 2, 1),
    ),
    "AvgPool3DGrad": sample(
        lambda g: raw.AvgPool3DGrad(
            orig_input_shape=[1, 4, 4, 2, 1], grad=g, ksize=[1, 2, 2, 2, 1], strides=[1, 2, 2, 2, 1], padding="VALID"
        ),
        f.any(1, 2, 2, 1, 1),
    ),
    "MaxPool": sample(lambda x: tf.nn.max_pool2d(x, 3, 2, "SAME"), d.any(2, 5, 4, 3)),
    "MaxPool padded": sample(
        lambda x: tf.nn.max_pool2d(x, 3, 2, [[0, 0], [1, 1], [0, 1], [0, 0]]), d.any(2, 5, 4, 3)
    ),
    "MaxPoolV2": sample(
        lambda x: raw.MaxPoolV2(input=x, ksize=[1, 2, 2, 1], strides=[1, 1, 1, 1], padding="VALID"), d.any(1, 3, 4, 2)
    ),
    "MaxPool3D": sample(lambda x: tf.nn.max_pool3d(x, 2, 2, "SAME"), f.any(1, 3, 4, 3, 2)),
    "MaxPoolGrad": sample(
        lambda g: raw.MaxPoolGrad(
            orig_input=tf.reshape(tf.range(9, dtype=g.dtype), [1, 3, 3, 1]),
            orig_output=tf.constant([[[[4.0], [5.0]], [[7.0], [8.0]]]], g.dtype),
            grad=g, ksize=[1, 2, 2, 1], strides=[1, 1, 1, 1], padding="VALID",
        ),
        d.any(1, 2, 2, 1),
    ),
    "MaxPool3DGrad": sample(
        lambda g: raw.MaxPool3DGrad(
            orig_input=tf.reshape(tf.range(8, dtype=g.dtype), [1, 2, 2, 2, 1]),
            orig_output=tf.constant(7.0, g.dtype, [1, 1, 1, 1, 1]),
            grad=g, ksize=[1, 2, 2, 2, 1], strides=[1, 1, 1, 1, 1], padding="VALID",
        ),
        f.any(1, 1, 1, 1, 1),
    ),
    "MaxPoolWithArgmax": sample(lambda x: tf.nn.max_pool_with_argmax(x, 2, 1, "VALID")[0], d.any(2, 3, 4, 2)),
    "MaxPoolWithArgmax numbering examples": sample(
        lambda x: tf.nn.max_pool_with_argmax(x, 2, 1, "VALID", include_batch_in_index=True)[0], d.any(2, 3, 4, 2)
    ),
    "FractionalAvgPool": sample(
        lambda x: tf.nn.fractional_avg_pool(x, [1, 1.5, 1.4, 1], overlapping=True, seed=3)[0], d.any(2, 7, 6, 2)
    ),
    "FractionalMaxPool": sample(
        lambda x: tf.nn.fractional_max_pool(x, [1, 1.5, 1.4, 1], seed=3)[0], d.any(2, 7, 6, 2)
    ),
    "Dilation2D": sample(
        lambda x, k: tf.nn.dilation2d(x, k, [1, 1, 2, 1], "SAME", "NHWC", [1, 1, 1, 1]),
        d.any(1, 4, 4, 2), d.any(2, 2, 2),
    ),
    "L2Loss": sample(tf.nn.l2_loss, d.any(3, 2)),
    "LRN": sample(lambda x: tf.nn.lrn(x, 1, alpha=0.3), f.any(1, 2, 2, 5)),
    "FusedBatchNorm": sample(_batch_norm("FusedBatchNorm"), f.any(2, 3, 4, 2), f.positive(2), f.any(2)),
    "FusedBatchNormV2": sample(_batch_norm("FusedBatchNormV2"), f.any(2, 3, 4, 2), f.positive(2), f.any(2)),
    "FusedBatchNormV3": sample(_batch_norm("FusedBatchNormV3"), f.any(2, 3, 4, 2), f.positive(2), f.any(2)),
    "FusedBatchNormV3 of a trained layer": sample(
        _batch_norm("FusedBatchNormV3", mean=[0.1, 0.2], variance=[0.5, 0.6], is_training=False),
        f.any(2, 3, 4, 2), f.positive(2), f.any(2),
    ),
    "FakeQuantWithMinMaxArgs": sample(
        lambda x: tf.quantization.fake_quant_with_min_max_args(x, -1, 1), f.share(4), verdicts="wrong", why=STAIRCASE
    ),
    "FakeQuantWithMinMaxVars": sample(
        tf.quantization.fake_quant_with_min_max_vars, f.any(6), np.float32(-0.9), np.float32(1.1),
        verdicts="wrong", why=STAIRCASE,
    ),
    "FakeQuantWithMinMaxVarsPerChannel": sample(
        tf.quantization.fake_quant_with_min_max_vars_per_channel,
        f.any(6, 2), np.float32([-0.9, -0.8]), np.float32([1.1, 0.7]), verdicts="wrong", why=STAIRCASE,
    ),
    "QuantizeAndDequantizeV2": sample(
        lambda x: raw.QuantizeAndDequantizeV2(
            input=x, input_min=tf.constant(-1.0, x.dtype), input_max=tf.constant(1.0, x.dtype), num_bits=4,
            range_given=True,
        ),
        d.any(6), verdicts="wrong", why=STAIRCASE,
    ),
    "QuantizeAndDequantizeV3": sample(
        lambda x: raw.QuantizeAndDequantizeV3(
            input=x, input_min=tf.constant(-1.0, x.dtype), input_max=tf.constant(1.0, x.dtype), num_bits=4
        ),
        d.any(6), verdicts="wrong", why=STAIRCASE,
    ),
    "QuantizeAndDequantizeV4": sample(
        lambda x, low, high: tf.quantization.quantize_and_dequantize_v2(x, low, high, num_bits=4, range_given=True),
        f.any(6), np.float32(-0.9), np.float32(1.1), verdicts=("wrong", "correct", "wrong"), why=STAIRCASE,
    ),
}  # fmt: skip
