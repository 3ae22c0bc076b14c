"""The lowerings that take complex numbers: those that were tried with them.

The contract has a sample of each at random complex numbers, against differences of TensorFlow's own calls. An op that
is not listed here has no meaning for complex numbers, and a gradient that runs through it is unverified by its name.
"""

from __future__ import annotations

_NAMES = """
    Acos Acosh Add AddN AddV2 Angle Asin Asinh Atan Atanh BandedTriangularSolve BatchMatMul BatchMatMulV2
    BatchMatMulV3 BiasAdd BiasAddGrad BiasAddV1 BroadcastTo Cast Cholesky ComplexAbs
    CompositeTensorVariantFromComponents Concat ConcatV2 Conj ConjugateTranspose Cos Cosh Cumprod Cumsum
    DebugIdentityV2 DepthToSpace Diag DiagPart Div DivNoNan DynamicPartition DynamicStitch Einsum EnsureShape
    Equal EuclideanNorm Exp ExpandDims Expm1 ExtractImagePatches FFT FFT2D FFT3D Fill Gather GatherNd GatherV2
    IFFT IFFT2D IFFT3D IRFFT IRFFT2D Identity Imag Inv InvGrad Log Log1p MatMul MatrixBandPart MatrixDeterminant
    MatrixDiag MatrixDiagPart MatrixDiagPartV2 MatrixDiagPartV3 MatrixDiagV2 MatrixDiagV3 MatrixInverse
    MatrixSetDiag MatrixSetDiagV2 MatrixSetDiagV3 MatrixSolve MatrixSolveLs MatrixSquareRoot
    MatrixTriangularSolve Mean MirrorPad MirrorPadGrad Mul MulNoNan Neg NotEqual OnesLike OptionalFromValue Pack
    Pad PadV2 ParallelDynamicStitch PlaceholderWithDefault Pow Print Prod RaggedFillEmptyRows
    RaggedFillEmptyRowsGrad RaggedGather RaggedTensorToSparse RaggedTensorToTensor RaggedTensorToVariant Rank
    Real RealDiv Reciprocal ReciprocalGrad Reshape Reverse ReverseSequence ReverseV2 Roll Rsqrt RsqrtGrad
    ScatterNd ScatterNdNonAliasingAdd SegmentMean SegmentProd SegmentSum Select SelectV2 Shape ShapeN Sigmoid
    SigmoidGrad Sign Sin Sinh Size Slice SpaceToDepth SparseAdd SparseAddGrad SparseFillEmptyRows
    SparseFillEmptyRowsGrad SparseMatrixMatMul SparseReduceSum SparseReorder SparseSlice SparseSliceGrad
    SparseTensorDenseAdd SparseTensorDenseMatMul SparseTensorToCSRSparseMatrix SparseToDense Split SplitV Sqrt
    SqrtGrad Square SquaredDifference Squeeze StopGradient StridedSlice StridedSliceGrad Sub Sum Tan Tanh
    TanhGrad TensorListFromTensor TensorListPushBack TensorListScatter TensorListScatterIntoExistingList
    TensorListScatterV2 TensorListSetItem TensorListSplit TensorScatterAdd TensorScatterSub TensorScatterUpdate
    TensorStridedSliceUpdate Tile Transpose TridiagonalMatMul TridiagonalSolve Unpack UnsortedSegmentProd
    UnsortedSegmentSum Xdivy Xlog1py Xlogy ZerosLike
"""
COMPLEX = frozenset(_NAMES.split())
