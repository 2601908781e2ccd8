"""What to run where samples and plain calls do not say enough; never what comes out."""

from __future__ import annotations

import re


def table(text: str) -> dict[str, tuple[str, ...]]:
    """Lines of a name and argument lists, separated by ``|``; a line that begins with ``|`` goes on with the last."""
    rows = (line.strip().partition(" ") for line in re.sub(r"\n +\|", " |", text).strip().splitlines())
    return {name: tuple(part.strip() for part in rest.split("|")) for name, _, rest in rows}


METHOD_PROBES = table("""
    apply_ v, lambda a: a
    as_subclass x, torch.Tensor | x, torch.nn.Parameter
    backward w.sum() | s.requires_grad_()
    bernoulli_ x, 0.5 | v, 0.5 | s, s
    ccol_indices m.to_sparse_csc()
    chunk x, 2 | x, 1
    coalesce x.to_sparse() | (x.to_sparse() * 2)
    col_indices m.to_sparse_csr()
    copy_ x, v | v, w[0] | s, s | i, x
    crow_indices m.to_sparse_csr()
    dense_dim x.to_sparse()
    dequantize quantized | v
    dim_order x
    element_size x
    expand x, 2, 3 | s, 2 | v, 2, 3 | s, ()
    float_power_ x.double(), 2 | v.double(), v.double() | s.double(), 2
    fill_ x, 1.0 | v, s | s, 0 | v, w[0, 0]
    geometric_ x, 0.5 | v, 0.5 | s, 0.5
    index_put_ x, (i[0],), s | v, (i[0],), s
    indices x.to_sparse().coalesce()
    int_repr quantized
    is_coalesced x.to_sparse()
    is_set_to x, v
    is_shared x
    istft spectrum, 4
    item s | i[0, 0] | b[0, 0]
    lu m | m, get_infos=True
    map2_ v, v, v, lambda a, b, c: a
    map_ v, v, lambda a, b: a
    module_load x, v
    new x, 2, 3 | x | x, [1.0, 2.0] | x, w
    new_tensor x, [1.0] | x, 1 | i, [1]
    nonzero x | x, as_tuple=True | s | i
    norm x | x, 2 | x, 2, 1 | x, dim=0 | v | x, 'fro'
    numpy v | x, force=True | i
    permute x, 1, 0 | x, (1, 0) | s, ()
    q_per_channel_axis per_channel
    q_per_channel_scales per_channel
    q_per_channel_zero_points per_channel
    q_scale quantized
    q_zero_point quantized
    qscheme quantized
    quantile v, 0.5 | x, 0.5 | x, 0.5, 0 | x, 0.5, dim=1 | x, torch.tensor([0.5])
    nanquantile v, 0.5 | x, 0.5 | x, 0.5, 0 | x, 0.5, dim=1 | x, torch.tensor([0.5])
    register_hook w, lambda grad: grad
    register_post_accumulate_grad_hook w, lambda grad: grad
    repeat x, 2, 2 | s, 2 | x, (2, 2)
    requires_grad_ v | w | s | w, True | w, requires_grad=True
    reshape x, 6 | x, -1 | x, 3, 2 | x, (3, 2) | s, 1 | v[:1], ()
    resize x, 3, 2 | s, 1
    resize_ v, 3 | v, 1, 3 | v[:1], ()
    resize_as_sparse_ (v * 0).to_sparse(), v.to_sparse()
    retain_grad x
    row_indices m.to_sparse_csc()
    set_ v, torch.rand(3) | v
    share_memory_ v | w
    size x | x, 0 | x, -1 | x, dim=1 | s
    slogdet m
    sparse_dim x.to_sparse()
    sparse_mask x, x.to_sparse()
    sparse_resize_ v.to_sparse(), (4,), 1, 0
    sparse_resize_and_clear_ v.to_sparse(), (4,), 1, 0
    split x, 1 | x, (1, 1) | x, 2 | x, 1, 1
    split_with_sizes x, (1, 1)
    squeeze x[:1] | x[:1], 0 | s | v
    stft wave, 4, return_complex=True | wave[None], 4, return_complex=True
    storage v
    storage_type v
    stride x | x, 0 | x, dim=1 | s
    sum_to_size x, 3 | x, (2, 3) | v[:1], ()
    swapaxes x, 0, 1 | v, 0, 0
    to x, torch.float64 | x, torch.int64 | i, torch.float32 | x, 'cpu' | x, v | x, i | x, dtype=torch.int32
    to_dense x.to_sparse() | v
    to_padded_tensor torch.nested.nested_tensor([v, v[:2]]), 0.0
    tolist x | i | s
    type x | i | x, torch.int64 | x, torch.float64 | x, 'torch.LongTensor' | i, dtype=torch.float32 | x, torch.float32
    type_as x, i | i, x | x, v | s, i
    unbind x | v | x, 1
    unflatten x, 1, (3, 1) | v, 0, (3,)
    unique x | x, return_inverse=True | x, return_counts=True | x, return_inverse=True, return_counts=True | x, dim=0
    unique_consecutive x | s, return_inverse=True | x, return_inverse=True | x, return_counts=True
        | x, return_inverse=True, return_counts=True
    unsafe_split_with_sizes x, (1, 1)
    untyped_storage v
    values x.to_sparse().coalesce()
    view x, 6 | x, -1 | x, 3, 2 | x, (3, 2) | s, 1 | v[:1], () | x, torch.int32 | x, torch.float32
    where b, b, x | x, b, x | x, b, 1.0 | i, b, 0.5
""")
"""Argument lists for methods, ``self`` first."""

PROBES = table("""
    torch.affine_grid_generator torch.rand(1, 2, 3), (1, 1, 2, 2), False
    torch.alpha_dropout x, 0.5, True | s, 0.5, True | x, 0.5, False
    torch.alpha_dropout_ x, 0.5, True | s, 0.5, True
    torch.arange 3 | 3.0 | 0, 1, 0.1
    torch.as_tensor [1.0, 2.0] | [1, 2] | 1.0 | w | i | np.ones(3)
    torch.asarray [1.0, 2.0] | [1, 2] | 1.0 | w | i | np.ones(3)
    torch.atleast_1d x | s | x, v | x, v, s | [x, v] | [x, v, s] | (x, v)
    torch.atleast_2d x | s | x, v | x, v, s | [x, v] | [x, v, s] | (x, v)
    torch.atleast_3d x | s | x, v | x, v, s | [x, v] | [x, v, s] | (x, v)
    torch.autograd.backward w.sum()
    torch.autograd.functional.hessian f3, (x, x, x) | f, x | f, x, create_graph=True | f2, (x, x)
        | f2, (x, x), create_graph=True
    torch.autograd.functional.hvp f3, (x, x, x), (x, x, x) | f2, (x, x), (x, x) | f, x, x | f, x, x, create_graph=True
        | f2, (x, x), (x, x), create_graph=True
    torch.autograd.functional.jacobian f3, (x, x, x) | g2, x | g, x | g, x, create_graph=True
        | g2, x, create_graph=True | f2, (x, x) | f2, (x, x), create_graph=True
    torch.autograd.functional.jvp g2, x, x | g, x, x | g, x, x, create_graph=True | g2, x, x, create_graph=True
    torch.autograd.functional.vhp f3, (x, x, x), (x, x, x) | f2, (x, x), (x, x) | f, x, x | f, x, x, create_graph=True
        | f2, (x, x), (x, x), create_graph=True
    torch.autograd.functional.vjp g2, x, (x, x) | g, x, x | g, x, x, create_graph=True
        | g2, x, (x, x), create_graph=True
    torch.autograd.grad f(w), [w] | f(w), w | f(w), [w], create_graph=True | f2(w, l), [w, l]
    torch.autograd.gradcheck g, w.double()
    torch.bartlett_window 5 | 5, dtype=torch.float64
    torch.batch_norm x, v, v, v, v, True, 0.1, 1e-5, False | x, None, None, None, None, True, 0.1, 1e-5, False
    torch.bernoulli x | s
    torch.blackman_window 5
    torch.block_diag x, x | v, s
    torch.broadcast_shapes (2, 3), (3,)
    torch.broadcast_tensors x, v | x | x, v, s
    torch.can_cast torch.int64, torch.float32
    torch.cartesian_prod v, v | v
    torch.ccol_indices_copy m.to_sparse_csc()
    torch.cdist x, x
    torch.chain_matmul m, m, m
    torch.chunk x, 2 | x, 1
    torch.col_indices_copy m.to_sparse_csr()
    torch.compiled_with_cxx11_abi
    torch.complex x, x | s, s
    torch.conv_tbc torch.rand(3, 2, 2), torch.rand(1, 2, 2), torch.rand(2)
    torch.cosine_embedding_loss x, x, v[:2] | v, v, s
    torch.cosine_similarity x, x | v, v, 0 | x, x, 0
    torch.ctc_loss torch.rand(4, 1, 3), i[:1, :1], (4,), (1,)
    torch.crow_indices_copy m.to_sparse_csr()
    torch.dequantize quantized | [quantized, quantized]
    torch.dsplit torch.rand(2, 2, 4), 2 | torch.rand(2, 2, 4), 4
    torch.distributions.kl_divergence torch.distributions.Normal(x, x), torch.distributions.Normal(x, x)
    torch.dropout x, 0.5, True | s, 0.5, True | x, 0.5, False
    torch.dropout_ x, 0.5, True | s, 0.5, True
    torch.einsum 'ij,j->i', x, v | 'ij->', x | 'ij->ji', x
    torch.embedding m, i
    torch.embedding_bag m, i[0], i[0, :1] * 0
    torch.empty (2, 3) | () | 2, 3
    torch.eye 3
    torch.feature_alpha_dropout x, 0.5, True | x, 0.5, False
    torch.feature_alpha_dropout_ x, 0.5, True
    torch.feature_dropout x, 0.5, True | x, 0.5, False
    torch.feature_dropout_ x, 0.5, True
    torch.fft.fftfreq 4
    torch.fft.rfftfreq 4
    torch.finfo torch.float32
    torch.frobenius_norm m, (0, 1) | m, 1
    torch.from_dlpack v | i | np.ones(3)
    torch.from_numpy np.ones(3) | np.ones((2, 3), dtype=np.int64) | np.array(1.0) | np.ones(2, dtype=bool)
    torch.frombuffer np.ones(3, dtype=np.float32), dtype=torch.float32
    torch.full (2,), 1.0 | (2, 3), 1 | (), True
    torch.func.grad f
    torch.func.vmap g
    torch.get_default_device
    torch.get_default_dtype
    torch.get_device x
    torch.get_num_threads
    torch.get_rng_state
    torch.grid_sampler torch.rand(1, 1, 2, 2), torch.rand(1, 2, 2, 2), 0, 0, False
    torch.gru_cell x, x, torch.rand(9, 3), torch.rand(9, 3)
    torch.hamming_window 5
    torch.hann_window 5
    torch.hinge_embedding_loss x, x | v, v
    torch.initial_seed
    torch.instance_norm x[None], None, None, None, None, True, 0.1, 1e-5, False
    torch.int_repr quantized
    torch.is_grad_enabled
    torch.is_storage x
    torch.is_tensor x
    torch.istft spectrum, 4
    torch.kaiser_window 5
    torch.kl_div x, x | v, v | s, s | x, x, 0
    torch.linspace 0, 1, 3
    torch.lobpcg m @ m.T + torch.eye(3), 1
    torch.logspace 0, 1, 3
    torch.lstm_cell x, (x, x), torch.rand(12, 3), torch.rand(12, 3)
    torch.lu m | m, get_infos=True
    torch.manual_seed 0
    torch.margin_ranking_loss x, x, x | v, v, v
    torch.max_pool3d t3[None], 2
    torch.meshgrid v, v | v, v, v | v | [v, v]
    torch.multinomial x, 1 | v, 2
    torch.native_dropout x, 0.5, True | s, 0.5, True
    torch.nested.as_nested_tensor [v, v]
    torch.nested.nested_tensor [v, v]
    torch.nested.to_padded_tensor torch.nested.nested_tensor([v, v[:2]]), 0.0
    torch.nn.functional.adaptive_max_pool1d x, 2 | x, 2, return_indices=True
    torch.nn.functional.adaptive_max_pool2d m[None], 2 | m[None], 2, return_indices=True
    torch.nn.functional.adaptive_max_pool3d m[None, None], 2 | m[None, None], 2, return_indices=True
    torch.nn.functional.adaptive_max_pool3d_with_indices m[None, None], 2
    torch.nn.functional.affine_grid torch.rand(1, 2, 3), (1, 1, 2, 2)
    torch.nn.functional.embedding i, m | i[0, 0], m | i, m, max_norm=1.0
    torch.nn.functional.embedding_bag i, m | i[0], m, i[0, :1] * 0
    torch.nn.functional.fold torch.rand(1, 4, 1), 2, 2 | torch.rand(4, 1), 2, 2
    torch.nn.functional.fractional_max_pool2d m[None], 2, 1 | m[None], 2, 1, return_indices=True
    torch.nn.functional.fractional_max_pool2d_with_indices m[None], 2, 1
    torch.nn.functional.fractional_max_pool3d t3[None], 2, 1 | t3[None], 2, 1, return_indices=True
    torch.nn.functional.fractional_max_pool3d_with_indices t3[None], 2, 1
    torch.nn.functional.gumbel_softmax x | x, hard=True | v | s
    torch.nn.functional.linear x, m | v, m | v, v | x, v
    torch.nn.functional.lp_pool1d x, 2.0, 2
    torch.nn.functional.lp_pool2d m[None], 2.0, 2
    torch.nn.functional.lp_pool3d t3[None], 2.0, 2
    torch.nn.functional.max_pool1d x, 2 | x, 2, return_indices=True
    torch.nn.functional.max_pool2d m[None], 2 | m[None], 2, return_indices=True
    torch.nn.functional.max_pool3d t3[None], 2 | t3[None], 2, return_indices=True
    torch.nn.functional.multi_head_attention_forward *attention | *attention, need_weights=False
    torch.nn.functional.pixel_shuffle torch.rand(4, 2, 2), 2
    torch.nn.functional.triplet_margin_with_distance_loss x, x, x | v, v, v | s, s, s
    torch.nn.functional.upsample x[None], 4
    torch.nn.functional.upsample_bilinear m[None, None], 4
    torch.nn.functional.upsample_nearest x[None], 4
    torch.nn.functional.max_pool3d_with_indices t3[None], 2
    torch.nn.init.calculate_gain 'relu'
    torch.nn.init.dirac_ torch.rand(2, 2, 2)
    torch.nn.init.eye_ m
    torch.nn.init.sparse_ m, 0.1
    torch.nn.utils.clip_grad_norm list(graded.parameters()), 1.0
    torch.nn.utils.clip_grad_norm_ list(graded.parameters()), 1.0
    torch.nn.utils.clip_grad_value_ list(graded.parameters()), 1.0
    torch.nn.utils.clip_grads_with_norm_ list(graded.parameters()), 1.0, s
    torch.nn.utils.get_total_norm [x, v]
    torch.nn.utils.parameters_to_vector list(linear.parameters())
    torch.nn.utils.rnn.invert_permutation i[0] * 0 | None
    torch.nn.utils.rnn.pack_padded_sequence x[..., None], torch.tensor([3, 2]), batch_first=True
    torch.nn.utils.rnn.pack_sequence [v, v[:2]]
    torch.nn.utils.rnn.pad_packed_sequence torch.nn.utils.rnn.pack_sequence([x[0], x[1]])
    torch.nn.utils.rnn.pad_sequence [v, v[:2]] | [i[0], i[0]] | [x, x] | (x, x)
    torch.nn.utils.rnn.unpad_sequence x, torch.tensor([2, 1, 1]) | x, torch.tensor([2, 2, 1])
    torch.nn.utils.rnn.unpack_sequence torch.nn.utils.rnn.pack_sequence([x[0], x[1], x[1]])
    torch.nn.utils.vector_to_parameters torch.rand(8), list(linear.parameters())
    torch.nn.utils.fuse_linear_bn_weights m, v, v, v, 1e-5, v, v
    torch.nn.utils.fuse_conv_bn_weights m[..., None, None], v, v, v, 1e-5, v, v
    torch.nonzero x | x, as_tuple=True | s | i
    torch.norm x | x, 2 | x, 2, 1 | x, dim=0 | v | x, 'fro'
    torch.normal x, v | x, 1.0 | 0.0, x | 0.0, 1.0, (2,)
    torch.numel x
    torch.ones (2, 3) | () | 2, 3
    torch.poisson_nll_loss x, x, True, False, 1e-8, 0 | x, x, True, False, 1e-8, 1
    torch.polygamma 1, x | 1, s
    torch.promote_types torch.int64, torch.float32
    torch.q_per_channel_axis per_channel
    torch.q_per_channel_scales per_channel
    torch.q_per_channel_zero_points per_channel
    torch.q_scale quantized
    torch.q_zero_point quantized
    torch.quantize_per_tensor v, 0.1, 0, torch.quint8
    torch.quantize_per_channel w, v[:2], i[0, :2], 0, torch.quint8
    torch.quantize_per_tensor_dynamic v, torch.quint8, False
    torch.rand (2, 3) | () | 2, 3
    torch.randint 3, (2,) | 0, 3, (2,) | 3, ()
    torch.randn (2, 3) | () | 2, 3
    torch.randperm 3
    torch.range 0, 3
    torch.result_type x, i
    torch.rnn_relu_cell x, x, m, m
    torch.rnn_tanh_cell x, x, m, m
    torch.row_indices_copy m.to_sparse_csc()
    torch.rrelu x | s | x, training=True
    torch.rrelu_ x | s | x, training=True
    torch.scalar_tensor 1.0 | 2
    torch.segment_reduce v, 'sum', lengths=torch.tensor([1, 2])
    torch.select_copy x, 0, 0 | v, 0, 0
    torch.set_rng_state torch.get_rng_state()
    torch.signal.windows.hann 5
    torch.slogdet m
    torch.linalg.slogdet m
    torch.quantile v, 0.5 | x, 0.5 | x, 0.5, 0 | x, 0.5, dim=1 | x, torch.tensor([0.5])
    torch.nanquantile v, 0.5 | x, 0.5 | x, 0.5, 0 | x, 0.5, dim=1 | x, torch.tensor([0.5])
    torch.sparse.mm m.to_sparse(), m
    torch.sparse.softmax m.to_sparse(), 1
    torch.sparse.log_softmax m.to_sparse(), 1
    torch.sparse.sum m.to_sparse() | m.to_sparse(), 0
    torch.sparse_bsc_tensor [0, 1], [0], [[[1.0]]]
    torch.sparse_bsr_tensor [0, 1], [0], [[[1.0]]]
    torch.sparse_compressed_tensor [0, 1, 2], [0, 1], [1.0, 2.0], layout=torch.sparse_csr
    torch.sparse_coo_tensor i[:, :2] * 0, v[:2], (2, 2) | [[0, 1]], [1.0, 2.0] | [[0, 1]], [1, 2]
    torch.sparse_csc_tensor [0, 1, 2], [0, 1], [1.0, 2.0]
    torch.sparse_csr_tensor [0, 1, 2], [0, 1], [1.0, 2.0] | [0, 1, 2], [0, 1], [1, 2]
    torch.sparse.addmm m, m.to_sparse(), m
    torch.sparse.spdiags m, torch.tensor([0, 1, 2]), (3, 3)
    torch.special.polygamma 1, x | 1, s
    torch.split_with_sizes_copy x, (1, 1) | x, (2,)
    torch.split x, 1 | x, (1, 1) | x, 2
    torch.squeeze x[:1] | x[:1], 0 | s | v
    torch.stft wave, 4, return_complex=True | wave[None], 4, return_complex=True
    torch.sum x | x, 0 | x, (0, 1) | x, dim=1
    torch.svd_lowrank m, 2
    torch.swapaxes x, 0, 1 | v, 0, 0
    torch.tensor [1.0, 2.0] | [1, 2] | [[1.0]] | 1.0 | True | w
    torch.tensordot x, x, 2 | m, m, 1
    torch.threshold_ x, 0.1, 0.0 | s, 0.1, 0.0
    torch.tril_indices 2, 2
    torch.triplet_margin_loss x, x, x | v, v, v
    torch.triu_indices 2, 2
    torch.typename x
    torch.unbind x | v
    torch.unique x | x, return_inverse=True | x, return_counts=True | x, return_inverse=True, return_counts=True
    torch.unique_consecutive x | s, return_inverse=True | x, return_inverse=True | x, return_counts=True
        | x, return_counts=True, return_inverse=True
    torch.unsafe_split_with_sizes x, (1, 1)
    torch.utils.data.random_split range(4), [2, 2]
    torch.utils.dlpack.to_dlpack v
    torch.vander v
    torch.view_as_complex_copy torch.rand(3, 2)
    torch.view_as_real_copy spectrum
    torch.view_copy x, (6,) | v[:1], ()
    torch.where b | b, x, v | b, i, 0.5 | b, 1.0, x | b, x, 0.0 | b[0, 0], s, s | b[0], x, x | b, 1, 0 | b, 1, x
        | s > 2, 1.0, 0.0 | b, 1.0, 0.0
    torch.zeros (2, 3) | () | 2, 3
""")
"""Argument lists for functions."""

MODULE_PROBES = table("""
    AdaptiveLogSoftmaxWithLoss 4, 6, [2] | torch.rand(2, 4), torch.tensor([0, 3])
    AlphaDropout | x | s
    BCELoss | x, x
    BCEWithLogitsLoss | x, x
    ChannelShuffle 1 | torch.rand(1, 2, 3, 3)
    CosineSimilarity 0 | x, x | v, v
    CrossEntropyLoss | x, i[0, :2] | v, i[0, 0]
    CrossMapLRN2d 2 | torch.rand(1, 2, 3, 3)
    Dropout | x | s
    Dropout1d | x
    Dropout2d | x[None]
    Dropout3d | x[None, None]
    EmbeddingBag 4, 2 | i | i[0], i[0, :1] * 0
    FeatureAlphaDropout | x | s
    Flatten 0 | x | x[None] | s
    Fold 2, 2 | torch.rand(1, 4, 1)
    FractionalMaxPool2d 2, output_size=1 | m[None]
    FractionalMaxPool3d 2, output_size=1 | t3[None]
    Hardsigmoid | x | s
    Identity | x | s
    LazyBatchNorm1d | x
    LazyBatchNorm2d | torch.rand(2, 3, 2, 2)
    LazyBatchNorm3d | torch.rand(2, 3, 2, 2, 2)
    LazyInstanceNorm1d affine=True | x[None]
    LazyInstanceNorm2d affine=True | torch.rand(2, 3, 2, 2)
    LazyInstanceNorm3d affine=True | torch.rand(2, 3, 2, 2, 2)
    LazyLinear 2 | x | v
    Linear 3, 2 | x | v
    MaxUnpool1d 2 | torch.rand(1, 1, 2), torch.tensor([[[0, 2]]])
    MaxUnpool2d 2 | torch.rand(1, 1, 1, 1), torch.tensor([[[[0]]]])
    MaxUnpool3d 2 | torch.rand(1, 1, 1, 1, 1), torch.tensor([[[[[0]]]]])
    MultiheadAttention 4, 2 | *attention[:3] | *attention[:3], need_weights=False
    NLLLoss2d | torch.rand(1, 2, 3, 3), torch.ones(1, 3, 3, dtype=torch.int64)
    PairwiseDistance | x, x | v, v
    PixelShuffle 1 | torch.rand(1, 1, 2, 2)
    PixelUnshuffle 1 | torch.rand(1, 1, 2, 2)
    RNNBase 'LSTM', 2, 3
    RNNCellBase 2, 3, True, 4
    RReLU | x | s
    SyncBatchNorm 3
    TransformerDecoder torch.nn.TransformerDecoderLayer(4, 2, 4), 1 | torch.rand(2, 4), torch.rand(2, 4)
    TripletMarginLoss | x, x, x | v, v, v
    TripletMarginWithDistanceLoss | x, x, x | v, v, v
    Unflatten 0, (2, 1) | x
    Unfold 2 | torch.rand(1, 1, 3, 3)
    Upsample None, 2 | x[None]
    UpsamplingBilinear2d None, 2 | torch.rand(1, 1, 2, 2)
    UpsamplingNearest2d None, 2 | torch.rand(1, 1, 2, 2)
""")
"""Modules that ``module_db`` lacks, or says little of: constructor arguments, then arguments of calls."""

OPERATOR_PROBES = table("""
    __abs__ x
    __add__ x, 1 | s, 2.0 | i, 1.5
    __and__ b, b | i, 1
    __bool__ s
    __contains__ x, 1.0
    __eq__ x, 1
    __float__ s
    __floordiv__ x, 2 | i, 2
    __ge__ x, 1
    __getitem__ x, 0 | v, 0 | x, slice(1) | x, None | x, ... | x, b | x, i[0, :1] | x, (0, 0) | x, [0, 1]
    __gt__ x, 1
    __iadd__ x, 1
    __iand__ b, b
    __imul__ x, 2
    __index__ i[0, 0]
    __int__ s
    __invert__ b | i
    __ior__ b, b
    __ipow__ x, 2
    __isub__ x, 1
    __itruediv__ x, 2
    __le__ x, 1
    __len__ x
    __lshift__ i, 1
    __lt__ x, 1
    __matmul__ x, v | m, m | v, v
    __mod__ x, 2 | i, 2
    __mul__ x, 2 | i, 1.5
    __ne__ x, 1
    __neg__ x
    __or__ b, b
    __pos__ x
    __pow__ x, 2 | i, 2
    __radd__ x, 1 | i, 1.5
    __rdiv__ x, 1 | i, 1
    __rfloordiv__ x, 1
    __rmatmul__ v, m
    __rmod__ x, 2
    __rmul__ x, 2 | i, 1.5
    __rpow__ x, 2
    __rshift__ i, 1
    __rsub__ x, 1 | i, 1.5
    __rtruediv__ x, 1 | i, 1
    __setitem__ x, 0, 1.0
    __sub__ x, 1 | i, 1.5
    __truediv__ x, 2 | i, 2
    __xor__ b, b
""")
"""Argument lists for special methods, ``self`` first."""

DISTRIBUTION_PROBES = table("""
    Bernoulli x | s
    Beta x, x | s, s
    Binomial 3, x | 3, s
    Categorical x | v
    Cauchy x, x | s, s
    Chi2 x | s
    ContinuousBernoulli x | s
    Dirichlet x | v
    Exponential x | s
    FisherSnedecor x, x | s, s
    Gamma x, x | s, s
    Geometric x | s
    Gumbel x, x | s, s
    HalfCauchy x | s
    HalfNormal x | s
    InverseGamma x, x | s, s
    Kumaraswamy x, x | s, s
    Laplace x, x | s, s
    LogNormal x, x | s, s
    Multinomial 3, x | 3, v
    MultivariateNormal v, torch.eye(3)
    NegativeBinomial x + 1, x | s + 1, s
    Normal x, x | s, s
    OneHotCategorical x | v
    Pareto x, x | s, s
    Poisson x | s
    StudentT x, x | s, s
    Uniform x - 1, x + 1 | s - 1, s + 1
    Weibull x, x | s, s
""")
"""Constructor arguments of distributions."""
DISTRIBUTION_CALLS = table("""
    sample | (2,)
    sample_n 2
    rsample | (2,)
    log_prob sampled
    cdf sampled
    icdf sampled * 0 + 0.5
    entropy
    perplexity
    enumerate_support
""")
"""Arguments of methods of distributions; the rest of their public names are read."""
