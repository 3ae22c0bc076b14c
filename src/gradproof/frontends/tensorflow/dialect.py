"""What the shared rooms need to know about TensorFlow: its lowerings, and what its ops do to the flow of numbers."""

from __future__ import annotations

from gradproof.frontends.assemble.dialect import Dialect, Role
from gradproof.frontends.missing.returned_none import returned_none
from gradproof.frontends.record.model import RETURN_OP
from gradproof.frontends.tensorflow.eager.hand_written import refused
from gradproof.frontends.tensorflow.kernels import kernel_of
from gradproof.frontends.tensorflow.lower import TABLE
from gradproof.frontends.tensorflow.raised import raised, said
from gradproof.frontends.tensorflow.spelling import spelled
from gradproof.frontends.tensorflow.traced.repeatable import PYTHON_OPS

_DISCRETE = (
    "ArgMax", "ArgMin", "Round", "Rint", "Floor", "Ceil", "Sign", "FloorDiv", "Equal", "NotEqual", "Less", "LessEqual",
    "Greater", "GreaterEqual", "Bucketize", "UniqueV2", "Where", "TopKV2", "InTopKV2", "OneHot",
    "StatelessMultinomial", "IsNan", "IsFinite", "IsInf", "LogicalAnd", "LogicalOr", "LogicalNot",
)  # fmt: skip
# New numbers each time. Those named Stateless follow from a seed that is an argument; but Keras makes such seeds from
# a generator of its own, and then the seed was read from a variable.
_DRAWING = (
    "RandomStandardNormal", "RandomUniform", "RandomUniformInt", "TruncatedNormal", "RandomGamma", "RandomPoissonV2",
    "RandomShuffle", "Multinomial", "ParameterizedTruncatedNormal", "StatefulStandardNormalV2", "StatefulUniform",
    "StatefulTruncatedNormal", "StatefulUniformFullInt", "StatefulRandomBinomial",
)  # fmt: skip

_PUTTING = (
    "ResourceScatterAdd", "ResourceScatterSub", "ResourceScatterMul", "ResourceScatterDiv", "ResourceScatterMin",
    "ResourceScatterMax", "ResourceScatterUpdate", "ResourceScatterNdAdd", "ResourceScatterNdSub",
    "ResourceScatterNdMin", "ResourceScatterNdMax", "ResourceScatterNdUpdate", "ResourceStridedSliceAssign",
    "LookupTableInsertV2", "QueueEnqueueV2", "QueueEnqueueManyV2",
)  # fmt: skip

ROLES: dict[str, Role] = {
    "ReadVariableOp": "read",
    "ResourceGather": "gather",
    "ResourceGatherNd": "gather",
    "AssignVariableOp": "store",
    "AssignAddVariableOp": "add",
    "AssignSubVariableOp": "subtract",
    **dict.fromkeys(_PUTTING, "put"),
    "Bitcast": "bits",
    "MakeIterator": "feed",
    RETURN_OP: "pass-on",
    "IdentityN": "pass-on",
    "StopGradient": "stop",
    "Cast": "cast",
    **dict.fromkeys(("PyFunc", "EagerPyFunc", "PyFuncStateless", "NumpyFunction", *PYTHON_OPS), "leave"),
    **dict.fromkeys(("Shape", "ShapeN", "Size", "Rank", "ZerosLike", "OnesLike"), "shape"),
    **dict.fromkeys(_DISCRETE, "discrete"),
    **dict.fromkeys(_DRAWING, "draw"),
}

DIALECT = Dialect(
    TABLE, ROLES, kernel_of, returned_none, refused, raised, said, replays_ops=True, spelled=spelled
)
