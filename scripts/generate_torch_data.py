"""Write ``torchlint/model/torch/data/torch.json``: what torch's functions, methods, attributes and classes give back.

``python scripts/generate_torch_data.py`` rewrites the file, ``--check`` only says whether it is up to date. Linting
never imports torch; this script does, and takes every fact from it, in this order:

1. **Execution.** Each function and method is run on the sample inputs of torch's own tests (``op_db`` and ``module_db``
   in ``torch.testing._internal``), on a few plain shapes, on the arguments in :data:`PROBES`, and on variations of all
   these (0-dimensional, batched, transposed, without ``dtype=``, with ``reduction="none"``). Float inputs require grad
   where the call allows it. What comes out says whether it requires grad, how its dtype and number of dimensions relate
   to the inputs, and whether it is one of them or shares their memory.
2. **Stubs**: ``torch/_C/_VariableFunctions.pyi``, ``torch/_C/__init__.pyi`` and ``torch/nn/functional.pyi``; and the
   alias marks in the schemas of operators (``aten::view(Tensor(a) self, …) -> Tensor(a)``).
3. **Annotations** of Python functions, and the first line of the docstring of built-in ones.

A *result* is a string (``bool int float number str none list ndarray size device dtype layout storage generator
handle``, ``other`` for anything else that is not a tensor, ``any`` for what cannot be known), or an object, by ``k``:

``tensor``
    ``grad``: requires grad if an input does (default), ``first`` (if the first argument does, whatever the others are),
    ``never``, ``factory`` (if ``requires_grad=True`` is given), ``always`` (unless ``requires_grad=False`` is given).
    ``dtype`` (unless ``dtype=`` is given): like the first tensor (default), ``tensors`` (what all tensors promote to),
    ``promote`` (numbers count, too), ``count`` (like the first tensor, but integers for truth values), ``int``,
    ``bool``, ``float`` (or complex, even for integer inputs), ``arg`` (an argument gives it), ``float_factory`` (the
    default float type), ``mixed`` (floats of floats, anything of others), ``any``.
    ``ndim``: unknown (default), ``zero``, ``more`` (at least 1), ``keep`` (as the first tensor argument),
    ``broadcast``, ``reduce`` (0 if neither dim/axis nor ``keepdim=True`` is given), ``loss`` (0 unless
    ``reduction="none"``), ``size`` (as many as a size has), ``data`` (as deep as the first argument is nested).
    ``as_first``: with ``more``, as many as the first tensor argument has, as far as one, two and more are told apart.
    ``dim_at``: for ``reduce``, the position of ``dim`` among the positional arguments (``self`` not counted); without
    it, ``dim`` can only be given by keyword. ``keepdim`` (its position, or true): as many as the first tensor has
    with ``keepdim=True``. ``elementwise``: a ``loss`` that is broadcast with ``reduction="none"``.
    ``size_at``: for ``size``, the first position where it can be (0 if missing). ``sizes``: also as several integers.
    ``at``: positions of arguments that decide what comes back (those of ``flag:`` cases; of losses ``reduction`` and
    the older ``reduce`` and ``size_average``), ``self`` not counted.
    ``self``: it is the first argument itself, always. ``alias``: it can be, or can share its memory. With ``alias``,
    ``same`` says that it can be the first argument itself, ``copy`` that it can be new.
    ``inplace_flag``: with this keyword literally true, it is the first argument itself.
    ``optional``: it can be ``None`` instead.
``tuple`` with ``items`` and, for a named tuple, ``names``; ``tuple_of`` and ``list_of`` with ``item``, in any number
    (``each``: one for each of several tensors, computed from that one alone).
``overload`` with ``cases``
    ``flag:a`` where argument ``a`` is literally ``True`` (``flag:a,b``: both; the case with the most names wins);
    ``dim`` where the second argument is an integer or ``dim=``/``axis=`` is given; ``tensor`` where it is a tensor;
    ``sequence`` where the first argument is a list or tuple; ``one_arg`` for other arguments; ``no_args`` where there
    is nothing but the tensor (booleans do not count), and also where the case that applies is not listed. For methods
    the second argument is the first one in the parentheses; for ``modules``, flags are those of the constructor.

Keys beyond functions, methods, attributes, modules, classes and aliases: ``operators`` (results of special methods),
``constructors`` (results of calling tensor classes), ``distribution`` (methods and attributes of distributions),
``constants`` (``torch.strided``), ``dtypes`` (``torch.long`` is ``int``). A module's ``output`` is that of a call: its
``grad`` follows inputs and parameters, and ``trainable`` says that it requires grad though no input does: ``true``, or
``[name, position, default]`` of the argument of the constructor that must be true for it. ``distributions`` has the
``parameters`` of each distribution; ``free`` says of which of them a method or attribute is no function (of those not
listed, of none or of all), ``integers`` what is made of integers.
"""

from __future__ import annotations

import argparse
import ast
import collections
import contextlib
import functools
import importlib
import importlib.util
import inspect
import itertools
import json
import operator
import random
import re
import sys
import types
import unittest
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

Result = Any
"""A string or an object, as described above."""

OUTPUT = Path(__file__).resolve().parent.parent / "torchlint" / "model" / "torch" / "data" / "torch.json"
STUBS = Path(torch.__file__).parent
SAMPLES = {torch.float32: 64, torch.complex64: 10, torch.int64: 20, torch.bool: 10}
"""Sample inputs taken per operation, spread evenly over those there are."""
VARIED = 5
"""Calls per function, case and set of flags that are varied."""

NOT_RUN = re.compile(r"cudnn_|miopen_|mkldnn_|from_file|import_ir|^(cuda|xpu|ipu|mtia|hpu|pin_memory|is_pinned)$")
"""Functions whose result the devices or files of the machine decide."""
UNCHECKED = {"native_batch_norm"}
"""Functions that write outside of their memory if shapes do not fit (``MALLOC_CHECK_`` finds them): not varied."""
NOT_EVERYWHERE = re.compile(r"ProcessGroup[A-Z]|torch\.hub\.tqdm|has_torch_function")
"""Names that only some builds or environments have."""
SPLIT = {"new", "quantile", "nanquantile"}
"""Functions whose cases are kept apart though each gives a tensor."""


def table(text: str) -> dict[str, tuple[str, ...]]:
    """Lines of a name and argument lists, separated by ``|``; a line that begins with ``|`` goes on with the last."""
    rows = (line.strip().partition(" ") for line in re.sub(r"\n +\|", " |", text).strip().splitlines())
    return {name: tuple(part.strip() for part in rest.split("|")) for name, _, rest in rows}


# What to run where samples and plain calls do not say enough; never what comes out. Names: :func:`inputs`.
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
    torch.nn.utils.vector_to_parameters torch.rand(8), linear.parameters()
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

# Types without the attributes of tensors, by what they are reached by. ``()`` builds one, for its instance attributes.
NOT_TENSORS = """
    np.ndarray np.generic np.float64 np.int64 np.bool_ list tuple dict set frozenset str bytes bytearray int float
    complex bool range object slice type io.TextIOWrapper io.BytesIO io.StringIO io.BufferedReader pathlib.Path
    argparse.Namespace collections.deque collections.Counter collections.OrderedDict collections.defaultdict
    collections.ChainMap array.array memoryview fractions.Fraction decimal.Decimal datetime.date datetime.time
    datetime.datetime datetime.timedelta random.Random logging.getLogger() re.Pattern re.Match types.SimpleNamespace
    types.FunctionType types.ModuleType threading.Thread() threading.Lock() queue.Queue() torch.nn.Module()
    torch.nn.Sequential() torch.nn.ModuleList() torch.nn.ParameterList() torch.nn.ModuleDict()
    torch.nn.ParameterDict() torch.optim.Optimizer torch.optim.SGD([parameter]) torch.optim.Adam([parameter])
    torch.optim.lr_scheduler.LRScheduler torch.optim.lr_scheduler.StepLR(torch.optim.SGD([parameter]),1)
    torch.optim.lr_scheduler.ReduceLROnPlateau(torch.optim.SGD([parameter])) torch.utils.data.Dataset
    torch.utils.data.TensorDataset(parameter) torch.utils.data.DataLoader([1]) torch.nn.utils.rnn.PackedSequence
    torch.Size torch.device torch.dtype torch.layout torch.Generator torch.cuda.Stream torch.cuda.Event
    torch.UntypedStorage torch.TypedStorage torch.jit.ScriptModule torch.fx.Node torch.fx.GraphModule
"""


def words(text: str) -> list[str]:
    """The words of a text."""
    return text.split()


PACKAGES = words("""
    torch torch.accelerator torch.amp torch.amp.autocast_mode torch.amp.grad_scaler torch.autograd
    torch.autograd.anomaly_mode torch.autograd.forward_ad torch.autograd.function torch.autograd.functional
    torch.autograd.grad_mode torch.autograd.gradcheck torch.autograd.graph torch.autograd.profiler
    torch.autograd.variable torch.backends.cuda torch.backends.cudnn torch.backends.mps torch.compiler torch.cpu
    torch.cpu.amp torch.cuda torch.cuda.amp torch.cuda.comm torch.cuda.memory torch.cuda.random torch.cuda.streams
    torch.distributed torch.distributed.fsdp torch.distributed.nn torch.distributed.optim torch.distributions
    torch.distributions.constraints torch.distributions.kl torch.distributions.transforms torch.distributions.utils
    torch.export torch.fft torch.func torch.functional torch.futures torch.fx torch.hub torch.jit torch.library
    torch.linalg torch.masked torch.mps torch.multiprocessing torch.nested torch.nn torch.nn.attention
    torch.nn.attention.bias torch.nn.attention.flex_attention torch.nn.functional torch.nn.init torch.nn.parallel
    torch.nn.parameter torch.nn.utils torch.nn.utils.clip_grad torch.nn.utils.convert_parameters torch.nn.utils.fusion
    torch.nn.utils.parametrizations torch.nn.utils.parametrize torch.nn.utils.prune torch.nn.utils.rnn
    torch.nn.utils.spectral_norm torch.nn.utils.stateless torch.nn.utils.weight_norm torch.onnx torch.optim
    torch.optim.lr_scheduler torch.optim.optimizer torch.optim.swa_utils torch.overrides torch.profiler
    torch.quasirandom torch.random torch.serialization torch.signal.windows torch.sparse torch.special torch.storage
    torch.testing torch.types torch.utils torch.utils.checkpoint torch.utils.data torch.utils.data.dataloader
    torch.utils.data.dataset torch.utils.data.distributed torch.utils.data.sampler torch.utils.dlpack
    torch.utils.hooks torch.utils.model_zoo torch.xpu
""")
"""Modules whose public names are taken, besides the submodules of :data:`PARENTS`."""
PARENTS = ("torch.nn.modules", "torch.nn.parallel", "torch.optim", "torch.distributions")
"""Packages of which every public submodule is looked at: classes are imported from there, too."""
PLAIN_MODULES = {"torch", *(f"torch.{name}" for name in words("nn.functional nn.init linalg fft special functional"))}
"""Modules whose functions can be called with any tensor, without harm."""

# ---------------------------------------------------------------------------------------------------------------------
# Results from annotations
# ---------------------------------------------------------------------------------------------------------------------

TENSOR: dict[str, Any] = {"k": "tensor"}
NAMED_TYPES: dict[str, Result] = {
    **dict.fromkeys(("Tensor", "Self", "S", "Parameter"), TENSOR),
    **dict.fromkeys(("_bool", "bool"), "bool"),
    **dict.fromkeys(("_int", "int", "SymInt"), "int"),
    **dict.fromkeys(("_float", "float"), "float"),
    **dict.fromkeys(("Number", "_complex", "complex", "number"), "number"),
    **dict.fromkeys(("_str", "str"), "str"),
    **dict.fromkeys(("Size", "_size"), "size"),
    **dict.fromkeys(("_device", "device"), "device"),
    **dict.fromkeys(("_dtype", "dtype"), "dtype"),
    **dict.fromkeys(("_layout", "layout"), "layout"),
    **dict.fromkeys(("Storage", "UntypedStorage", "TypedStorage"), "storage"),
    **dict.fromkeys(("Any", "Callable", "object", "T", "R", "_T", "_R", "_P", "RRef", "_empty"), "any"),
    "None": "none",
    "NoReturn": "none",
    "Never": "none",
    "list": "list",
    "List": "list",
    "ndarray": "ndarray",
    "Generator": "generator",
    "RemovableHandle": "handle",
}


def from_annotation(text: str) -> Result:
    """The result that an annotation stands for."""
    try:
        return _from_node(ast.parse(text, mode="eval").body)
    except SyntaxError:
        return "any"


def _from_node(node: ast.expr) -> Result:
    if isinstance(node, ast.Constant):
        return "none" if node.value is None else from_annotation(str(node.value))
    if isinstance(node, ast.BinOp):
        return _union([node.left, node.right])
    if isinstance(node, ast.Subscript):
        return _from_subscript(node)
    name = ast.unparse(node)
    if name.startswith("torch.return_types."):
        return _from_return_type(getattr(torch.return_types, name.rpartition(".")[2]))
    return NAMED_TYPES.get(name.rpartition(".")[2], "other")


def _from_subscript(node: ast.Subscript) -> Result:
    name = ast.unparse(node.value).rpartition(".")[2]
    items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if name == "Optional":
        return _union([*items, ast.Constant(None)])
    if name == "Union":
        return _union(items)
    if name == "Literal":
        return NAMED_TYPES.get(type(ast.literal_eval(items[0])).__name__, "any")
    if name in {"tuple", "Tuple"} and not (len(items) == 2 and ast.unparse(items[1]) == "..."):
        return {"k": "tuple", "items": [_from_node(item) for item in items]}
    if name in {"tuple", "Tuple", "Sequence"}:
        return {"k": "tuple_of", "item": _from_node(items[0])}
    if name in {"list", "List"}:
        item = _from_node(items[0])
        return {"k": "list_of", "item": item} if item == TENSOR else "list"
    return "any" if name in {"Awaitable", "Callable", "Future", "type"} else "other"


def _union(parts: Sequence[ast.expr]) -> Result:
    results = [_from_node(part) for part in parts]
    real = [result for result in results if result != "none"]
    if len(real) == 1 and isinstance(real[0], dict):
        return {**real[0], "optional": True} if len(results) > 1 else real[0]
    if real and all(result == real[0] for result in real) and len(real) == len(results):
        return real[0]
    return "number" if real and set(map(str, results)) <= {"int", "float", "number", "bool"} else "any"


def _from_return_type(cls: Any) -> Result:
    names = list(cls.__match_args__)
    return {"k": "tuple", "items": [dict(TENSOR) for _ in names], "names": names}


def annotation_text(annotation: object) -> str:
    """Source text of an annotation that may be a string, a class or an object of ``typing``."""
    if isinstance(annotation, str):
        return annotation
    if annotation is None or annotation is type(None):
        return "None"
    return (
        annotation.__name__ if inspect.isclass(annotation) and not hasattr(annotation, "__args__") else str(annotation)
    )


# ---------------------------------------------------------------------------------------------------------------------
# Signatures: stubs, inspect, docstrings
# ---------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Signature:
    """Parameters (name, annotation, keyword only, required) without ``self``, and the annotated result."""

    parameters: tuple[tuple[str, str, bool, bool], ...]
    returns: str
    variadic: str = ""
    """Name of the parameter for any number of positional arguments."""

    @property
    def positional(self) -> list[str]:
        return [name for name, _, keyword, _ in self.parameters if not keyword]

    def position(self, names: Iterable[str]) -> int | None:
        """Position of the first positional parameter with one of these names."""
        return next((at for at, name in enumerate(self.positional) if name in names), None)

    @property
    def names(self) -> set[str]:
        return {name for name, _, _, _ in self.parameters}


Signatures = dict[str, list[Signature]]


def _signature(node: ast.FunctionDef) -> Signature:
    args = node.args
    positional = [*args.posonlyargs, *args.args]
    required = [True] * (len(positional) - len(args.defaults)) + [False] * len(args.defaults)
    found = [(a.arg, a.annotation, False, need) for a, need in zip(positional, required, strict=True)]
    if args.vararg:
        found.append((args.vararg.arg, args.vararg.annotation, True, False))
    found += [
        (a.arg, a.annotation, True, default is None)
        for a, default in zip(args.kwonlyargs, args.kw_defaults, strict=True)
    ]
    parameters = tuple(
        (name, ast.unparse(annotation) if annotation else "", keyword, need)
        for name, annotation, keyword, need in found
        if name not in {"self", "cls"}
    )
    returns = ast.unparse(node.returns) if node.returns else "Any"
    return Signature(parameters, returns, args.vararg.arg if args.vararg else "")


def read_stub(path: str, cls: str | None = None) -> Signatures:
    """Signatures of the functions of a stub file, or of the methods of one class in it."""
    body: Sequence[ast.stmt] = ast.parse((STUBS / path).read_text(encoding="utf-8")).body
    if cls is not None:
        body = next(node.body for node in body if isinstance(node, ast.ClassDef) and node.name == cls)
    found: Signatures = collections.defaultdict(list)
    for node in body:
        if isinstance(node, ast.FunctionDef):
            found[node.name].append(_signature(node))
    return dict(found)


def read_attributes(path: str, cls: str) -> dict[str, str]:
    """Annotations of the attributes and properties of a class in a stub file."""
    tree = ast.parse((STUBS / path).read_text(encoding="utf-8"))
    body = next(node.body for node in tree.body if isinstance(node, ast.ClassDef) and node.name == cls)
    found = {
        n.target.id: ast.unparse(n.annotation)
        for n in body
        if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name)
    }
    for node in body:
        if isinstance(node, ast.FunctionDef) and any(ast.unparse(d) == "property" for d in node.decorator_list):
            found[node.name] = ast.unparse(node.returns) if node.returns else "Any"
    return found


def live_signatures(function: Any) -> list[Signature]:
    """The signature of a Python function, or the one in the first lines of a built-in function's docstring."""
    with contextlib.suppress(ValueError, TypeError, NameError):
        found = inspect.signature(function)
        keyword_only = {inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}
        parameters = tuple(
            (p.name, annotation_text(p.annotation), p.kind in keyword_only, p.default is p.empty)
            for p in found.parameters.values()
            if p.name != "self"
        )
        return [Signature(parameters, annotation_text(found.return_annotation))]
    match = re.match(r"\s*(?:\w+\.)*(\w+)\((.*?)\)\s*->\s*(.+)", inspect.getdoc(function) or "")
    with contextlib.suppress(SyntaxError):
        if match:
            node = ast.parse(f"def f({match[2]}): ...").body[0]
            assert isinstance(node, ast.FunctionDef)
            return [Signature(_signature(node).parameters, "Tensor" if match[3].strip() == "Tensor" else "Any")]
    return []


# ---------------------------------------------------------------------------------------------------------------------
# Execution: one call, seen
# ---------------------------------------------------------------------------------------------------------------------


SIZES = ("size", "shape", "repeats")


@dataclass(frozen=True)
class Known:
    """What is known of a callable before it runs."""

    name: str
    signatures: tuple[Signature, ...] = ()
    takes_self: bool = False

    def has(self, name: str) -> bool:
        """Whether it takes a parameter of this name."""
        return any(name in signature.names for signature in self.signatures)

    @property
    def dim_at(self) -> int | None:
        """Position of ``dim`` among the positional arguments."""
        found = [at for one in self.signatures if (at := one.position(("dim", "axis"))) is not None]
        return min(found, default=None)

    def at(self, name: str) -> int | None:
        """Position of a parameter among the positional arguments."""
        return min((at for one in self.signatures if (at := one.position((name,))) is not None), default=None)

    def only_at(self, name: str) -> int | bool:
        """Position of a parameter, true if it has none or several."""
        found = {at for one in self.signatures if (at := one.position((name,))) is not None}
        return found.pop() if len(found) == 1 else True

    @property
    def size_at(self) -> int | None:
        """First position of a size among the positional arguments."""
        found = [at for one in self.signatures if (at := one.position(SIZES)) is not None]
        return min(found, default=0 if self.takes_sizes else None)

    @property
    def takes_sizes(self) -> bool:
        """Whether a size can be given as several arguments."""
        return any(one.variadic in SIZES for one in self.signatures)

    def size(self, args: Sequence[Any], kwargs: dict[str, Any]) -> int | None:
        """How many dimensions the size has that a call gives."""
        for value in (kwargs[name] for name in SIZES if name in kwargs):
            return len(value) if isinstance(value, list | tuple) else None
        if self.size_at is None:
            return None
        rest = args[self.size_at + self.takes_self :]
        sizes = [value for value in rest if isinstance(value, list | tuple)]
        if sizes:
            return len(sizes[0])
        return len(rest) if rest and self.takes_sizes and all(type(value) is int for value in rest) else None

    @property
    def takes_one_tensor(self) -> bool:
        """Whether the signatures are known and have no parameters but the first that can be tensors."""
        others = [one.parameters[0 if self.takes_self else 1 :] for one in self.signatures]
        annotations = [annotation for parameters in others for _, annotation, _, _ in parameters]
        return any(others) and not any(a == "" or re.search("Tensor|Any|Sequence$|_empty", a) for a in annotations)

    @property
    def any_length(self) -> bool:
        """Whether an annotation says that a sequence of any length comes back."""
        return any(re.search(r"\.\.\.\]|[Ll]ist\[|Sequence\[", signature.returns) for signature in self.signatures)

    def gets_dim(self, args: Sequence[Any], kwargs: dict[str, Any]) -> bool:
        """Whether a call reduces along given dimensions only, or keeps them all."""
        if kwargs.get("keepdim") is True or any(kwargs.get(key) is not None for key in ("dim", "axis")):
            return True
        at = self.dim_at
        index = -1 if at is None else at + self.takes_self
        return 0 < index < len(args) and args[index] is not None and not isinstance(args[index], bool)

    def writes(self, call: Call) -> bool:
        """Whether a call asks for its first argument to be changed."""
        at = self.at("inplace")
        given = call.args[at + self.takes_self :][:1] if at is not None else ()
        return any(value is not False for value in (*given, call.kwargs.get("inplace", False)))

    def flags(self, args: Sequence[Any], kwargs: dict[str, Any]) -> frozenset[str]:
        """Names of the arguments that are literally ``True``."""
        found = {key for key, value in kwargs.items() if value is True}
        for at, value in enumerate(args[1:], 0 if self.takes_self else 1):
            if value is True:
                found |= {one.positional[at] for one in self.signatures if len(one.positional) > at}
        return frozenset(found)


@dataclass(frozen=True)
class Call:
    """Positional and keyword arguments; ``raw`` if they are to be used as they are."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)
    raw: bool = False


@dataclass(frozen=True)
class Leaf:
    """What one tensor that came out has to do with those that went in."""

    requires_grad: bool
    inputs_require: bool | None
    """Whether an input did; ``None`` if there was no tensor among the inputs."""
    first_requires: bool | None
    """Whether a tensor of the first argument did."""
    kind: str
    kinds: tuple[str, ...]
    """Kinds (bool, int, float) of the first tensor, of all tensors promoted, and of tensors and numbers; or empty."""
    second: str | None
    """Kind of the second argument, if it is a tensor."""
    inputs: int
    """How many tensors went in."""
    ndim: int
    size: int | None
    """Number of dimensions of the size that was given."""
    depth: int | None
    """How deep the first argument is nested, if it is a number or a list."""
    first_ndim: int | None
    shape_is_broadcast: bool
    is_first: bool
    changed: bool
    """Whether the first argument was written to."""
    shares: bool
    is_new: bool
    """Whether it has memory of its own."""


@dataclass(frozen=True)
class Node:
    """A sequence that came out: ``tuple`` or ``list``, its items, its field names."""

    kind: str
    items: tuple[Any, ...]
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Seen:
    """One executed call: its arguments in short, and the tree of what came out."""

    tree: Any
    case: str = "no_args"
    flags: frozenset[str] = frozenset()
    has_dim: bool = False
    unreduced: bool = False
    dtype_given: bool = False
    dtype_positional: bool = False


@dataclass(frozen=True)
class Before:
    """The inputs of a call before it ran (it may change them)."""

    first: Any
    version: int
    storages: set[int]
    require: bool | None
    first_requires: bool | None
    kinds: tuple[str, ...]
    shapes: list[torch.Size]
    second: str | None
    size: int | None
    depth: int | None

    @property
    def broadcast(self) -> torch.Size | None:
        """The shape that all inputs broadcast to."""
        return broadcast(self.shapes)

    @classmethod
    def of(cls, args: Sequence[Any], kwargs: dict[str, Any], known: Known) -> Before:
        """Note what matters of the arguments."""
        inputs = list(tensors_in((args, kwargs)))
        kinds = [dtype_kind(tensor.dtype) for tensor in inputs]
        numbers = [type(value).__name__ for value in (*args, *kwargs.values()) if type(value) in {int, float}]
        first = args[0] if args else None
        return cls(
            first,
            _version(first),
            {storage_of(tensor) for tensor in inputs} - {0},
            any(tensor.requires_grad for tensor in inputs) if inputs else None,
            any(tensor.requires_grad for tensor in tensors_in(first)) if first is not None else None,
            (kinds[0], max(kinds, key=ORDER.index), max([*kinds, *numbers], key=ORDER.index)) if kinds else (),
            [tensor.shape for tensor in inputs if not tensor.is_nested],
            dtype_kind(args[1].dtype) if len(args) > 1 and isinstance(args[1], torch.Tensor) else None,
            known.size(args, kwargs),
            next((nesting(arg) for arg in args[known.takes_self : known.takes_self + 1]), None),
        )


def nesting(value: Any) -> int | None:
    """0 for a number, 1 for a list of numbers, and so on."""
    if isinstance(value, list | tuple):
        inner = nesting(value[0]) if value else 0
        return None if inner is None else inner + 1
    return 0 if isinstance(value, int | float | complex) else None


ORDER = ("bool", "int", "float")
PLAIN: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (type(None), "none"),
    (bool, "bool"),
    ((int, torch.SymInt), "int"),
    (float, "float"),
    (complex, "number"),
    (str, "str"),
    (torch.Size, "size"),
    (torch.device, "device"),
    (torch.dtype, "dtype"),
    (torch.layout, "layout"),
    ((torch.UntypedStorage, torch.TypedStorage), "storage"),  # torchlint: ignore[TL302] it is still there
    (torch.Generator, "generator"),
    (torch.utils.hooks.RemovableHandle, "handle"),
    (np.ndarray, "ndarray"),
)


@functools.cache
def dtype_kind(dtype: torch.dtype) -> str:
    """``bool``, ``int`` or ``float`` (which complex is, too)."""
    if dtype == torch.bool:
        return "bool"
    return "float" if dtype.is_floating_point or dtype.is_complex else "int"


def tensors_in(value: Any) -> Iterator[torch.Tensor]:
    """All tensors in nested lists, tuples and dictionaries."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, list | tuple):
        for item in value:
            yield from tensors_in(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from tensors_in(item)


def storage_of(tensor: torch.Tensor) -> int:
    """Address of a tensor's memory, 0 where there is none."""
    try:
        return tensor.untyped_storage().data_ptr()
    except (RuntimeError, NotImplementedError):
        return 0


def _version(value: Any) -> int:
    return value._version if isinstance(value, torch.Tensor) and not value.is_inference() else 0


def broadcast(shapes: Sequence[torch.Size]) -> torch.Size | None:
    """The shape that shapes broadcast to, if they do."""
    longest = max((len(shape) for shape in shapes), default=-1)
    padded = [(1,) * (longest - len(shape)) + tuple(shape) for shape in shapes]
    sizes = [set(column) - {1} for column in zip(*padded, strict=True)]
    return None if longest < 0 or any(len(size) > 1 for size in sizes) else torch.Size(min(s, default=1) for s in sizes)


def map_tensors(value: Any, change: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    """The same nested lists, tuples and dictionaries with all tensors changed."""
    if isinstance(value, torch.Tensor):
        return change(value)
    if type(value) in {list, tuple}:
        return type(value)(map_tensors(item, change) for item in value)
    if type(value) is dict:
        return {key: map_tensors(item, change) for key, item in value.items()}
    return value


def _with_grad(tensor: torch.Tensor) -> torch.Tensor:
    fresh = tensor.detach().clone()
    floating = tensor.is_floating_point() or tensor.is_complex()
    return fresh.requires_grad_().clone() if floating else fresh


def _as_marked(tensor: torch.Tensor) -> torch.Tensor:
    return _with_grad(tensor) if tensor.requires_grad else tensor.detach().clone()


def _without_grad(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach().clone()


def run(function: Callable[..., Any], call: Call, known: Known) -> Seen | None:
    """Run a call: with all float inputs requiring grad; if that fails, those the sample marks; if that fails, none."""
    if call.raw:
        with contextlib.suppress(Exception):
            return run_once(function, call.args, call.kwargs, known)
    for change in (_with_grad, _as_marked, _without_grad):
        seen, fits = _attempt(function, call, known, change)
        if seen or not fits:
            return seen
    return None


def _attempt(
    function: Callable[..., Any], call: Call, known: Known, change: Callable[[torch.Tensor], torch.Tensor]
) -> tuple[Seen | None, bool]:
    """What a call gave, if it ran, and whether its arguments fit at all."""
    try:
        return run_once(function, map_tensors(call.args, change), map_tensors(call.kwargs, change), known), True
    except TypeError:
        return None, False
    except Exception:
        return None, True


def run_once(function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any], known: Known) -> Seen:
    """Run a call as it is, and compare what comes out with what went in."""
    before = Before.of(args, kwargs, known)
    value = function(*args, **kwargs)
    if value is NotImplemented:
        raise TypeError(known.name)
    positional = any(isinstance(arg, torch.dtype) or (isinstance(arg, str) and "Tensor" in arg) for arg in args[1:])
    return Seen(
        _tree(value, before),
        _case(args, kwargs),
        known.flags(args, kwargs),
        known.gets_dim(args, kwargs),
        kwargs.get("reduction", "") in {"none", 0},
        positional or kwargs.get("dtype") is not None,
        positional,
    )


def _case(args: Sequence[Any], kwargs: dict[str, Any]) -> str:
    if args and isinstance(args[0], list | tuple):
        return "sequence"
    rest = [*args[1:], *(value for value in kwargs.values() if not isinstance(value, bool))]
    if any(kwargs.get(key) is not None for key in ("dim", "axis")) or type(next(iter(args[1:]), None)) is int:
        return "dim"
    if rest and isinstance(rest[0], torch.Tensor):
        return "tensor"
    return "one_arg" if rest else "no_args"


def _tree(value: Any, before: Before) -> Any:
    if isinstance(value, torch.Tensor):
        return _leaf(value, before)
    for cls, name in PLAIN:
        if isinstance(value, cls):
            return name
    if isinstance(value, tuple):
        names = getattr(value, "_fields", ()) or (() if type(value) is tuple else getattr(value, "__match_args__", ()))
        return Node("tuple", tuple(_tree(item, before) for item in value), tuple(names))
    if isinstance(value, list):
        items = tuple(_tree(item, before) for item in value)
        return Node("list", items) if items and all(isinstance(item, Leaf) for item in items) else "list"
    return "any" if isinstance(value, types.FunctionType | functools.partial) else "other"


def _leaf(value: torch.Tensor, before: Before) -> Leaf:
    return Leaf(
        requires_grad=value.requires_grad,
        inputs_require=before.require,
        first_requires=before.first_requires,
        kind=dtype_kind(value.dtype),
        kinds=before.kinds,
        second=before.second,
        inputs=len(before.shapes),
        ndim=value.dim(),
        size=before.size,
        depth=before.depth,
        first_ndim=len(before.shapes[0]) if before.shapes else None,
        shape_is_broadcast=not value.is_nested and value.shape == before.broadcast,
        is_first=value is before.first,
        changed=_version(before.first) != before.version,
        shares=storage_of(value) in before.storages,
        is_new=value is not before.first and storage_of(value) not in {0, *before.storages} and value.numel() > 0,
    )


# ---------------------------------------------------------------------------------------------------------------------
# Execution: many calls, merged
# ---------------------------------------------------------------------------------------------------------------------


def _shape(tree: Any) -> str:
    """The structure of a tree, without what its tensors are like."""
    if isinstance(tree, Leaf):
        return "tensor"
    if isinstance(tree, Node):
        return f"{tree.kind}{len(tree.items) if tree.names else ''}"
    return "number" if tree in {"bool", "int", "float", "number"} else str(tree)


def _fingerprint(tree: Any) -> str:
    """The structure with lengths, and which tensors require grad."""
    if isinstance(tree, Node):
        return f"{_shape(tree)}({','.join(map(_fingerprint, tree.items))})"
    return _shape(tree) + ("*" if isinstance(tree, Leaf) and tree.requires_grad else "")


def merge_calls(seen: Sequence[Seen], known: Known) -> Result:
    """One result for all calls of a function; an overload if what comes back depends on the arguments."""
    relevant = _relevant_flags(seen)
    groups: dict[str, list[Seen]] = collections.defaultdict(list)
    for one in seen:
        flags = ",".join(sorted(one.flags & relevant))
        groups[f"flag:{flags}" if flags else one.case].append(one)
    shapes = {frozenset(_shape(one.tree) for one in group) - {"none"} for group in groups.values()}
    if len(shapes) == 1 and not relevant and known.name not in SPLIT:
        return merge(seen, known)
    plain = [case for case in groups if not case.startswith("flag:")] or list(groups)
    base = "no_args" if "no_args" in groups else max(plain, key=lambda case: len(groups[case]))
    results = {case: merge(group, known) for case, group in sorted(groups.items())}
    others = {case: result for case, result in results.items() if result != results[base] and case != base}
    if not others:
        return results[base]
    return {"k": "overload", "cases": {"no_args": results[base], **others}, **_at(relevant, known)}


def _relevant_flags(seen: Sequence[Seen]) -> frozenset[str]:
    """Arguments that, literally true, change the structure of the result or whether it requires grad."""
    found = set()
    for flag in {flag for one in seen for flag in one.flags}:
        on = {(one.case, _fingerprint(one.tree)) for one in seen if one.flags == {flag}}
        off = {(one.case, _fingerprint(one.tree)) for one in seen if not one.flags}
        both = {case for case, _ in on} & {case for case, _ in off}
        if any({print_ for c, print_ in on if c == case}.isdisjoint(p for c, p in off if c == case) for case in both):
            found.add(flag)
    return frozenset(found)


def merge(seen: Sequence[Seen], known: Known) -> Result:
    """One result for calls whose structure is the same; ``any`` if it is not."""
    real = [one for one in seen if one.tree != "none"]
    trees = [one.tree for one in real]
    if not trees:
        return "none" if seen else "any"
    if all(isinstance(tree, Leaf) for tree in trees):
        result = merge_leaves(real, known)
    elif all(isinstance(tree, Node) for tree in trees):
        result = _merge_nodes(real, known)
    elif all(isinstance(tree, str) for tree in trees):
        kinds = set(trees)
        result = trees[0] if len(kinds) == 1 else "number" if kinds <= {"bool", "int", "float", "number"} else "any"
    else:
        result = "any"
    if len(real) < len(seen):
        return {**result, "optional": True} if isinstance(result, dict) else "any"
    return result


def _merge_nodes(seen: Sequence[Seen], known: Known) -> Result:
    nodes: list[Node] = [one.tree for one in seen]
    kinds, names, lengths = {n.kind for n in nodes}, {n.names for n in nodes}, {len(n.items) for n in nodes}
    if len(kinds) > 1:
        return "any"
    if kinds == {"tuple"} and len(lengths) == 1 and (names != {()} or not known.any_length):
        columns = [[replace(one, tree=one.tree.items[at]) for one in seen] for at in range(lengths.pop())]
        result = {"k": "tuple", "items": [merge(column, known) for column in columns]}
        return {**result, "names": list(names.pop())} if len(names) == 1 and names != {()} else result
    items = [replace(one, tree=item) for one in seen for item in one.tree.items]
    return {"k": f"{kinds.pop()}_of", "item": merge(items, known)}


def merge_leaves(seen: Sequence[Seen], known: Known) -> Result:
    """One tensor result for many seen tensors."""
    leaves: list[Leaf] = [one.tree for one in seen]
    facts = {"grad": _grad(leaves, known), "dtype": _dtype(seen, known), "ndim": _ndim(seen)}
    result: dict[str, Any] = {"k": "tensor", **{key: value for key, value in facts.items() if value}}
    result |= _positions(result.get("ndim"), known)
    if result.get("ndim") == "more" and _has_ndim_of_first(leaves):
        result["as_first"] = True
    without = [replace(one, unreduced=False) for one in seen if one.unreduced]
    if result.get("ndim") == "loss" and _ndim(without) in {"keep", "broadcast"}:
        result["elementwise"] = True
    kept = [one.tree for one in seen if "keepdim" in one.flags]
    if kept and result.get("ndim") not in {"zero", "keep"} and all(leaf.ndim == leaf.first_ndim for leaf in kept):
        result["keepdim"] = known.only_at("keepdim")
    in_place = re.search(r"[^_]_$", known.name) or any(leaf.changed for leaf in leaves)
    if in_place and all(leaf.is_first for leaf in leaves):
        result["self"] = True
    elif any(leaf.is_first or leaf.shares for leaf in leaves):
        result["alias"] = True
        result |= {"same": True} if any(leaf.is_first for leaf in leaves) else {}
        result |= {"copy": True} if any(leaf.is_new for leaf in leaves) else {}
    return result


def _has_ndim_of_first(leaves: Sequence[Leaf]) -> bool:
    """Whether what comes out has as many dimensions as what goes in; seen with more than one number of them."""
    return all(leaf.ndim == leaf.first_ndim for leaf in leaves) and len({leaf.ndim for leaf in leaves}) > 1


def _positions(ndim: str | None, known: Known) -> dict[str, Any]:
    """Where the arguments are that decide the number of dimensions."""
    match ndim:
        case "reduce" if known.dim_at is not None:
            return {"dim_at": known.dim_at}
        case "size":
            sizes = {"sizes": True} if known.takes_sizes else {}
            return {"size_at": known.size_at, **sizes} if known.size_at else sizes
        case "loss":
            return _at(("reduction", "reduce", "size_average"), known)
    return {}


def _at(names: Iterable[str], known: Known) -> dict[str, Any]:
    """Positions of some arguments."""
    found = {name: at for name in sorted(names) if (at := known.at(name)) is not None}
    return {"at": found} if found else {}


def _grad(leaves: Sequence[Leaf], known: Known) -> str:
    leaves = [leaf for leaf in leaves if leaf.kind == "float"]
    if not leaves:
        return "never"
    if any(leaf.requires_grad for leaf in leaves):
        unasked = any(leaf.inputs_require is False for leaf in leaves)
        return "always" if unasked and all(leaf.requires_grad for leaf in leaves) else ""
    if known.has("requires_grad"):
        return "factory"
    asked = any(leaf.inputs_require for leaf in leaves) or all(leaf.inputs_require is None for leaf in leaves)
    return "never" if asked else ""


def _dtype(seen: Sequence[Seen], known: Known) -> str:
    if any(one.dtype_positional and one.tree.kind not in one.tree.kinds for one in seen):
        return "arg"
    leaves: list[Leaf] = [one.tree for one in seen if not one.dtype_given] or [one.tree for one in seen]
    kinds = {leaf.kind for leaf in leaves}
    from_nothing = {leaf.kind for leaf in leaves if not leaf.kinds}
    if from_nothing:
        factory = from_nothing == {"float"} and known.has("dtype")
        return "arg" if len(from_nothing | kinds) > 1 else "float_factory" if factory else kinds.pop()
    if all(leaf.kind == leaf.kinds[0] for leaf in leaves):
        mixed = any(leaf.kind != leaf.kinds[1] for leaf in leaves)
        return "" if mixed or all(leaf.inputs < 2 for leaf in leaves) else "tensors"
    if all(leaf.kind == leaf.kinds[1] for leaf in leaves):
        return "tensors"
    if all(leaf.kind == ("int" if leaf.kinds[0] == "bool" else leaf.kinds[0]) for leaf in leaves):
        return "count"
    if all(leaf.kind == leaf.kinds[2] for leaf in leaves):
        return "promote"
    if kinds != {"int"} and all(leaf.kind == leaf.second for leaf in leaves):
        return "arg"
    if len(kinds) == 1:
        return kinds.pop()
    return "any" if any(leaf.kinds[1] == "float" and leaf.kind != "float" for leaf in leaves) else "mixed"


def _ndim(seen: Sequence[Seen]) -> str:
    leaves: list[Leaf] = [one.tree for one in seen]
    if all(leaf.ndim == 0 for leaf in leaves):
        return "zero"
    if all(leaf.ndim >= 1 for leaf in leaves):
        return "more"
    if any(one.unreduced for one in seen) and all(one.tree.ndim == 0 for one in seen if not one.unreduced):
        return "loss"
    without = [one.tree for one in seen if not one.has_dim]
    if without and len(without) < len(seen) and all(leaf.ndim == 0 for leaf in without):
        return "reduce"
    if all(leaf.ndim == leaf.first_ndim for leaf in leaves):
        return "keep"
    if all(leaf.shape_is_broadcast for leaf in leaves):
        return "broadcast"
    sized = [leaf for leaf in leaves if leaf.size is not None]
    if sized and all(leaf.ndim == leaf.size for leaf in sized):
        return "size"
    nested = [leaf for leaf in leaves if leaf.depth is not None]
    others = [leaf for leaf in leaves if leaf.depth is None and leaf.first_ndim is not None]
    is_data = nested and all(leaf.ndim == leaf.depth for leaf in nested)
    return "data" if is_data and all(leaf.ndim == leaf.first_ndim for leaf in others) else ""


# ---------------------------------------------------------------------------------------------------------------------
# What to run
# ---------------------------------------------------------------------------------------------------------------------


def seed() -> None:
    """Make what follows repeatable."""
    torch.default_generator.manual_seed(0)
    random.seed(0)
    np.random.seed(0)


@functools.cache
def import_testing() -> tuple[Any, Any]:
    """``op_db`` and ``module_db``; their modules import ``expecttest`` for a base class that is not used here."""
    if importlib.util.find_spec("expecttest") is None:
        stand_in = types.ModuleType("expecttest")
        stand_in.TestCase = unittest.TestCase  # type: ignore[attr-defined]
        sys.modules["expecttest"] = stand_in
    operations = importlib.import_module("torch.testing._internal.common_methods_invocations")
    modules = importlib.import_module("torch.testing._internal.common_modules")
    return operations.op_db, modules.module_db


def sample_calls() -> dict[str, list[Call]]:
    """Sample inputs from ``op_db`` by name of the operation and of its aliases."""
    found: dict[str, list[Call]] = collections.defaultdict(list)
    for operation in import_testing()[0]:
        calls = [call for dtype in SAMPLES if dtype in operation.dtypes for call in _samples(operation, dtype)]
        for name in {operation.name, *(alias.name for alias in operation.aliases)}:
            found[name] += calls
    return found


def _samples(operation: Any, dtype: torch.dtype) -> list[Call]:
    seed()
    needs_grad = dtype.is_floating_point and operation.supports_autograd
    calls = []
    with contextlib.suppress(Exception):
        for sample in operation.sample_inputs_func(operation, "cpu", dtype, needs_grad):
            calls.append(Call((sample.input, *sample.args), dict(sample.kwargs)))  # noqa: PERF401
    return spread(calls, SAMPLES[dtype])


def spread(calls: Sequence[Call], count: int) -> list[Call]:
    """At most so many of the calls, evenly distributed."""
    return [calls[at * len(calls) // count] for at in range(count)] if len(calls) > count else list(calls)


def _is_dense(tensor: torch.Tensor) -> bool:
    return tensor.layout == torch.strided and not tensor.is_quantized and not tensor.is_nested


def _flat(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach().reshape(-1)[:3] if _is_dense(tensor) else tensor


def _single(tensor: torch.Tensor) -> torch.Tensor:
    if not _is_dense(tensor) or not tensor.numel():
        return tensor
    floating = tensor.is_floating_point() or tensor.is_complex()
    return tensor.detach().reshape(-1)[0] if floating else torch.zeros((), dtype=tensor.dtype)


def _batched(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach()[None] if _is_dense(tensor) else tensor


def _transposed(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach().transpose(0, -1) if _is_dense(tensor) and tensor.dim() > 1 else tensor


def variations(call: Call, known: Known) -> Iterator[Call]:
    """Other calls of the same kind: which claims survive them?"""
    args, kwargs = call.args, call.kwargs
    if args and isinstance(args[0], torch.Tensor):
        for change in (_flat, _single, _transposed):
            yield Call((change(args[0]), *args[1:]), kwargs)
        for change in (_flat, _single, _batched):
            yield Call(map_tensors(args, change), map_tensors(kwargs, change))
        yield Call((args[0], *map_tensors(args[1:], _batched)), map_tensors(kwargs, _batched))
    sizes = [i for i, arg in enumerate(args) if isinstance(arg, list | tuple) and all(type(n) is int for n in arg)]
    if sizes:
        empty = tuple(() if i in sizes else arg for i, arg in enumerate(args))
        yield Call(empty, kwargs)
        yield Call(map_tensors(empty, _single), kwargs)
    if kwargs.get("dtype") is not None:
        yield Call(args, {key: value for key, value in kwargs.items() if key != "dtype"})
    if known.has("reduction"):
        for reduction in ("none", 0, 1):
            yield Call(args, {**kwargs, "reduction": reduction})


@functools.cache
def plain_calls() -> tuple[Call, ...]:
    """Calls that many functions accept: one tensor, two of several shapes, a tensor and a number."""
    seed()
    shapes = ((), (3,), (2, 3), (2, 3, 3))
    one = [torch.rand(shape) for shape in shapes]
    integers = [torch.ones(shape, dtype=torch.int64) for shape in shapes]
    booleans = [torch.ones(shape, dtype=torch.bool) for shape in shapes]
    calls = [Call((tensor,)) for tensor in (*one, *integers, *booleans)]
    calls += [Call((one[i], one[j])) for i, j in ((0, 1), (1, 0), (1, 2), (2, 1), (2, 2), (0, 0))]
    calls += [Call((tensor, integers[2])) for tensor in (one[2], integers[2], booleans[2])]
    calls += [Call((integers[2], booleans[2])), Call((booleans[2], booleans[2]))]
    calls += [Call((one[2], 0)), Call((one[2],), {"dim": 0}), Call((one[3], 1)), Call((one[2], 0.5))]
    calls += [Call((integers[2], 0)), Call((integers[2], 0.5)), Call((booleans[2], 0)), Call((booleans[2], 0.5))]
    return tuple(calls)


def inputs() -> dict[str, Any]:
    """Names for the expressions in the tables, made anew for each."""
    seed()
    leaf, other = torch.rand(2, 3, requires_grad=True), torch.rand(2, 3, requires_grad=True)
    vector, integers = torch.rand(3), torch.ones(2, 3, dtype=torch.int64)
    mha, query = torch.nn.MultiheadAttention(4, 2), torch.rand(3, 2, 4)
    projection = (mha.in_proj_weight, mha.in_proj_bias)
    graded = torch.nn.Linear(3, 2)
    torch.autograd.backward(graded(vector).sum())
    return {
        "torch": torch,
        "np": np,
        "w": leaf,
        "l": other,
        "x": leaf.clone(),
        "v": vector,
        "s": torch.rand(()),
        "m": torch.rand(3, 3),
        "t3": torch.rand(3, 3, 3),
        "i": integers,
        "b": integers.bool(),
        "linear": torch.nn.Linear(3, 2),
        "graded": graded,
        "wave": torch.rand(16),
        "spectrum": torch.ones(3, 17, dtype=torch.complex64),
        "quantized": torch.quantize_per_tensor(vector, 0.1, 0, torch.quint8),  # torchlint: ignore[TL302] what it gives
        # torchlint: ignore[TL302] what it gives
        "per_channel": torch.quantize_per_channel(leaf.detach(), vector[:2], integers[0, :2], 0, torch.quint8),
        "attention": (query, query, query, 4, 2, *projection, None, None, False, 0.0, *mha.out_proj.parameters()),
        "f": lambda tensor: (tensor**2).sum(),
        "g": lambda tensor: tensor * 2,
        "g2": lambda tensor: (tensor * 2, tensor * 3),
        "f3": lambda one, two, three: (one * two * three).sum(),
        "f2": lambda one, two: (one * two).sum(),
        "args": lambda *args, **kwargs: Call(args, kwargs, raw=True),
    }


def probe_calls(texts: Iterable[str], **names: Any) -> list[Call]:
    """The calls that argument lists stand for."""
    return [eval(f"args({text})", {**inputs(), **names}) for text in texts]


def look(function: Callable[..., Any], calls: Iterable[Call], known: Known) -> Result | None:
    """Run calls and variations of them, and merge what comes out; ``None`` if nothing could be run."""
    seed()
    ran = [(call, seen) for call in calls if (seen := run(function, call, known))]
    ran = [(call, seen) for call, seen in ran if not known.writes(call)]
    by_case: dict[Any, list[Call]] = collections.defaultdict(list)
    for call, seen in ran:
        by_case[seen.case, seen.flags].append(call)
    varied = [] if known.name in UNCHECKED else [spread(calls, VARIED) for calls in by_case.values()]
    for call in itertools.chain(*varied):
        ran += [(other, seen) for other in variations(call, known) if (seen := run(function, other, known))]
    ran += [(again, seen) for again in _repeated(function, ran) if (seen := run(function, again, known))]
    if not ran:
        return None
    result = merge_calls([seen for _, seen in ran], known)
    if known.has("inplace") and isinstance(result, dict) and _in_place(function, [call for call, _ in ran], known):
        result["inplace_flag"] = "inplace"
    ran_calls = [call for call, _ in ran]
    if _each_alone(function, ran_calls, known):
        result = with_each(result)
    elif _first_decides(function, ran_calls, known):
        result = with_grad(result, "first")
    return _as_factory(function, result, ran_calls)


def _where(call: Call, is_chosen: Callable[[int], bool]) -> Call:
    """The call with exactly the chosen of its tensors (numbered, those of the first argument are 0) requiring grad."""
    numbers = itertools.count(1)

    def change(tensor: torch.Tensor) -> torch.Tensor:
        return _with_grad(tensor) if is_chosen(next(numbers)) else _without_grad(tensor)

    first = map_tensors(call.args[0], _with_grad if is_chosen(0) else _without_grad) if call.args else None
    args = (first, *map_tensors(list(call.args[1:]), change)) if call.args else ()
    return Call(args, map_tensors(call.kwargs, change), raw=True)


def _tensors_of(tree: Any) -> list[Leaf]:
    if isinstance(tree, Node):
        return [leaf for item in tree.items for leaf in _tensors_of(item)]
    return [tree] if isinstance(tree, Leaf) else []


def _first_decides(function: Callable[..., Any], calls: Sequence[Call], known: Known) -> bool:
    """Whether the result requires grad if the first argument does, whatever the others are."""
    if known.takes_one_tensor and not any(map(_is_given_others, calls)):
        return True
    asked = False
    for call in calls:
        if call.raw or not call.args or not _is_given_others(call):
            continue
        seen = run(function, _where(call, lambda number: number > 0), known)
        if seen is None:
            continue
        if any(leaf.requires_grad for leaf in _tensors_of(seen.tree)):
            return False
        asked = True
    return asked


def _is_given_others(call: Call) -> bool:
    """Whether a call has tensors behind the first argument that may have a graph; no signature of ``set_`` says so."""
    return any(t.is_floating_point() or t.is_complex() for t in tensors_in((call.args[1:], call.kwargs)))


def with_grad(result: Result, grad: str) -> Result:
    """The result with what its tensors require grad of, where they follow the inputs."""
    match result:
        case {"k": "tensor"}:
            return {"k": "tensor", "grad": grad, **result}
        case {"k": "overload", "cases": cases}:
            return {**result, "cases": {name: with_grad(case, grad) for name, case in cases.items()}}
        case {"items": items}:
            return {**result, "items": [with_grad(item, grad) for item in items]}
        case {"item": item}:
            return {**result, "item": with_grad(item, grad)}
    return result


def _each_alone(function: Callable[..., Any], calls: Sequence[Call], known: Known) -> bool:
    """Whether of several tensors as many come back, each of which depends on its own alone."""
    asked = False
    for call in calls:
        if len(call.args) < 2 or not all(isinstance(a, torch.Tensor) and a.is_floating_point() for a in call.args):
            continue
        for chosen in range(len(call.args)):
            seen = run(function, _where(call, functools.partial(operator.eq, chosen)), known)
            if seen is None or not isinstance(seen.tree, Node):
                return False
            wanted = [number == chosen for number in range(len(call.args))]
            if [isinstance(leaf, Leaf) and leaf.requires_grad for leaf in seen.tree.items] != wanted:
                return False
            asked = True
    return asked


def with_each(result: Result) -> Result:
    """The result, of which sequences hold something for each of the arguments."""
    match result:
        case {"k": "tuple_of" | "list_of"}:
            return {**result, "each": True}
        case {"k": "overload", "cases": cases}:
            return {**result, "cases": {name: with_each(case) for name, case in cases.items()}}
    return result


def _repeated(function: Callable[..., Any], ran: Sequence[tuple[Call, Seen]]) -> Iterator[Call]:
    """The function on its own result: does it return what needs no change?"""
    single = [call for call, seen in ran if len(call.args) == 1 and not call.kwargs and isinstance(seen.tree, Leaf)]
    for call in single[:3]:
        with contextlib.suppress(Exception):
            yield Call((function(map_tensors(call.args, _without_grad)[0]),))


def _in_place(function: Callable[..., Any], calls: Sequence[Call], known: Known) -> bool:
    asking = [Call(call.args, {**call.kwargs, "inplace": True}) for call in calls[:VARIED]]
    seen = [one for call in asking if (one := run(function, call, known))]
    return bool(seen) and all(isinstance(one.tree, Leaf) and one.tree.is_first for one in seen)


def _as_factory(function: Callable[..., Any], result: Result, calls: Sequence[Call]) -> Result:
    """A result that never requires grad does so only if asked to, where ``requires_grad=True`` is accepted."""
    if not isinstance(result, dict) or result.get("grad") not in {"never", "factory"}:
        return result
    for call in calls[:4]:
        with contextlib.suppress(TypeError, RuntimeError):
            args, kwargs = map_tensors(call.args, _without_grad), map_tensors(call.kwargs, _without_grad)
            made = function(*args, **{**kwargs, "requires_grad": True})
            return {**result, "grad": "factory" if getattr(made, "requires_grad", False) is True else "never"}
    return result


def from_signatures(known: Known) -> Result:
    """The result that annotations promise."""
    results = [from_annotation(signature.returns) for signature in known.signatures]
    if not results:
        return "any"
    if all(result == results[0] for result in results):
        return results[0]
    cases: dict[str, Result] = {}
    for signature, result in zip(known.signatures, results, strict=True):
        cases.setdefault(_declared_case(signature, known), result)
    return {"k": "overload", "cases": {"no_args": cases.get("no_args", results[0]), **cases}}


def _declared_case(signature: Signature, known: Known) -> str:
    flags = [name for name, annotation, _, _ in signature.parameters if annotation == "Literal[True]"]
    if flags:
        return "flag:" + ",".join(sorted(flags))
    rest = [parameter for parameter in signature.parameters[0 if known.takes_self else 1 :] if parameter[3]]
    if not rest:
        return "no_args"
    name, annotation, _, _ = rest[0]
    return "dim" if name in {"dim", "axis"} else "tensor" if annotation == "Tensor" else "one_arg"


@functools.cache
def viewing_operators() -> frozenset[str]:
    """Names of the operators whose schemas say that they can return an argument, or a view of it, unchanged."""
    return frozenset(
        schema.name.removeprefix("aten::")
        for schema in torch._C._jit_get_all_schemas()
        if any(returned.alias_info is not None and not returned.alias_info.is_write for returned in schema.returns)
    )


# ---------------------------------------------------------------------------------------------------------------------
# Public names
# ---------------------------------------------------------------------------------------------------------------------


def module_names() -> list[str]:
    """The modules to look at."""
    names = {*PACKAGES, *PARENTS}
    for parent in PARENTS:
        folder = Path(importlib.import_module(parent).__path__[0])
        names |= {f"{parent}.{path.stem}" for path in folder.glob("*.py") if not path.stem.startswith("_")}
    return sorted(names)


def is_tensor_type(value: object) -> bool:
    """Legacy constructors like ``torch.FloatTensor``."""
    return type(value).__name__ == "tensortype"


def _offers(module: Any, name: str, value: Any) -> bool:
    """Whether a module offers a name, rather than using it."""
    home = str(getattr(value, "__module__", None) or "torch")
    here = module.__name__
    if not (home == "torch" or home.startswith("torch.")) or NOT_EVERYWHERE.search(f"{here}.{name}"):
        return False
    if name in getattr(module, "__all__", ()) or home == here or home.startswith(here + "."):
        return True
    return here in {*PLAIN_MODULES, "torch.sparse"} and isinstance(value, types.BuiltinFunctionType)


@dataclass
class Names:
    """Every public object by its shortest name, and the other names."""

    objects: dict[str, Any] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)


@functools.cache
def public_names() -> Names:
    """Functions and classes of :func:`module_names`."""
    by_identity: dict[int, tuple[Any, list[str]]] = {}
    for module_name in module_names():
        module = importlib.import_module(module_name)
        for name in dir(module):
            value = getattr(module, name)
            if not name.startswith("_") and (callable(value) or is_tensor_type(value)) and _offers(module, name, value):
                by_identity.setdefault(id(value), (value, []))[1].append(f"{module_name}.{name}")
    names = Names()
    for value, found in by_identity.values():
        first, *others = sorted(found, key=lambda text: (text.count("."), len(text), text))
        names.objects[first] = value
        names.aliases.update(dict.fromkeys(others, first))
    return names


def resolve(name: str) -> Any:
    """The object a dotted name leads to."""
    parent, _, last = name.rpartition(".")
    owner = sys.modules[parent] if parent in sys.modules else resolve(parent)
    if isinstance(owner, types.ModuleType) and not hasattr(owner, last):  # a submodule nobody has imported yet
        return importlib.import_module(name)
    return getattr(owner, last)


# ---------------------------------------------------------------------------------------------------------------------
# The parts of the file
# ---------------------------------------------------------------------------------------------------------------------


def functions(samples: dict[str, list[Call]]) -> dict[str, Result]:
    """Every public function."""
    stubs = {"torch": read_stub("_C/_VariableFunctions.pyi"), "torch.nn.functional": read_stub("nn/functional.pyi")}
    found = {}
    for name, value in public_names().objects.items():
        if inspect.isclass(value) or is_tensor_type(value):
            continue
        module, _, last = name.rpartition(".")
        known = Known(last, tuple(stubs.get(module, {}).get(last, ()) or live_signatures(value)))
        calls = [*probe_calls(PROBES.get(name, ())), *_sampled(name.removeprefix("torch."), samples, value, known)]
        if module in PLAIN_MODULES and _takes_tensor(known) and last not in UNCHECKED:
            calls += plain_calls()
        result = None if NOT_RUN.search(last) else look(value, calls, known)
        result = from_signatures(known) if result is None else result
        if module == "torch":
            result = _may_view(result, last)
        if result != "any" or module == "torch":
            found[name] = result
    return found


def _may_view(result: Result, name: str) -> Result:
    """A result may be a view if the schema of the operator of that name says so (sparse tensors have no address)."""
    is_new = isinstance(result, dict) and result["k"] == "tensor" and "self" not in result
    return {**result, "alias": True} if is_new and name in viewing_operators() else result


def _takes_tensor(known: Known) -> bool:
    firsts = [signature.parameters[0] for signature in known.signatures if signature.parameters]
    return any(annotation == "Tensor" or name in {"input", "A", "x"} for name, annotation, _, _ in firsts)


def _sampled(name: str, samples: dict[str, list[Call]], function: Any, known: Known) -> list[Call]:
    """Samples for a function; none if no float sample works: then its arguments come in another order."""
    calls = samples.get(name) or samples.get(name.removesuffix("_")) or samples.get("nn.functional." + name) or []
    floats = [call for call in calls if call.args and getattr(call.args[0], "dtype", None) == torch.float32]
    return [] if floats and not any(run(function, call, known) for call in floats) else calls


COPIES = re.compile(r"Returns a copy of this object.*original object is returned", re.DOTALL)
"""What methods say that return their tensor itself where nothing has to be done."""
BOTH = {"same": True, "copy": True}


def methods(samples: dict[str, list[Call]]) -> dict[str, Result]:
    """Every public method of tensors."""
    names = [name for name in dir(torch.Tensor) if not name.startswith("_") and callable(getattr(torch.Tensor, name))]
    return {name: _method(name, METHOD_PROBES, samples) for name in names}


def operators(samples: dict[str, list[Call]]) -> dict[str, Result]:
    """The special methods that stand for operators."""
    return {name: _method(name, OPERATOR_PROBES, samples) for name in OPERATOR_PROBES}


@functools.cache
def _tensor_stub() -> Signatures:
    return read_stub("_C/__init__.pyi", "TensorBase")


def _method(name: str, probes: dict[str, tuple[str, ...]], samples: dict[str, list[Call]]) -> Result:
    value = getattr(torch.Tensor, name)
    known = Known(name, tuple(_tensor_stub().get(name) or live_signatures(value)), takes_self=True)
    calls = [*probe_calls(probes.get(name, ())), *_sampled(name, samples, value, known), *plain_calls()]
    calls = [call for call in calls if call.args and isinstance(call.args[0], torch.Tensor)]
    result = None if NOT_RUN.search(name) else look(value, calls, known)
    documented = COPIES.search(value.__doc__ or "")
    if result is not None:
        return _may_view({**result, **BOTH} if documented else result, name)
    return {**TENSOR, "ndim": "keep", "alias": True, **BOTH} if documented else _may_view(from_signatures(known), name)


def attributes() -> dict[str, Result]:
    """Every public attribute of tensors, read from a few tensors."""
    declared = read_attributes("_C/__init__.pyi", "TensorBase")
    found = {}
    for name in dir(torch.Tensor):
        if name.startswith("_") or callable(getattr(torch.Tensor, name)):
            continue
        known = Known(name, (Signature((), declared.get(name, "Any")),), takes_self=True)
        calls = [*plain_calls()[:12], Call((torch.rand(2, 3, dtype=torch.complex64),))]
        result = look(functools.partial(_attribute, name=name), calls, known)
        found[name] = from_signatures(known) if result is None or result == "none" else result
    found["grad"] = _seen_gradient()
    return found


def _attribute(tensor: torch.Tensor, name: str) -> Any:
    return getattr(tensor, name)


def _seen_gradient() -> Result:
    leaf = torch.rand(3, requires_grad=True)
    before: Any = leaf.grad
    torch.autograd.backward((leaf * leaf).sum())
    after: Any = leaf.grad
    assert before is None
    assert after.shape == leaf.shape
    assert not after.requires_grad
    return {"k": "tensor", "grad": "never", "ndim": "keep", "optional": True}


def not_tensors() -> list[Any]:
    """What :data:`NOT_TENSORS` names, and all distributions."""
    parameter = torch.nn.Parameter(torch.rand(1))
    spaces: dict[str, Any] = {"np": np, "torch": torch, "parameter": parameter}
    texts = NOT_TENSORS.split()
    for text in texts:
        name = text.partition(".")[0]
        if "." in text and name not in spaces:
            spaces[name] = importlib.import_module(name)
    names = set(torch.distributions.__all__) & {cls.__name__ for cls in _subclasses(torch.distributions.Distribution)}
    return [*(eval(text, spaces) for text in texts), *(getattr(torch.distributions, name) for name in sorted(names))]


def _subclasses(cls: type[Any]) -> Iterator[type[Any]]:
    sub: type[Any]
    for sub in cls.__subclasses__():
        yield sub
        yield from _subclasses(sub)


def tensor_only() -> list[str]:
    """Public names of tensors that nothing in :func:`not_tensors` has."""
    others = {name for value in not_tensors() for name in dir(value)}
    return sorted(name for name in dir(torch.Tensor) if not name.startswith("_") and name not in others)


def tensor_or_module() -> list[str]:
    """Public names that tensors and modules share."""
    return sorted(name for name in set(dir(torch.Tensor)) & set(dir(torch.nn.Module)) if not name.startswith("_"))


CLASS_KINDS = table("""
    parameter torch.nn.Parameter
    tensor torch.Tensor
    module torch.nn.Module
    optimizer torch.optim.Optimizer
    scheduler torch.optim.lr_scheduler.LRScheduler
    dataloader torch.utils.data.DataLoader
    dataset torch.utils.data.Dataset
    sampler torch.utils.data.Sampler
    distribution torch.distributions.Distribution
    packed torch.nn.utils.rnn.PackedSequence
    storage torch.UntypedStorage | torch.TypedStorage
    size torch.Size
    device torch.device
    dtype torch.dtype
    layout torch.layout
    function torch.autograd.Function
""")
"""What subclasses of a class are called."""


def classes(modules: Iterable[str]) -> dict[str, str]:
    """Every public class that is not in ``modules``."""
    known = [(resolve(name), kind) for kind, names in CLASS_KINDS.items() for name in names]
    found = {}
    for name, value in public_names().objects.items():
        if is_tensor_type(value) or value is torch.autograd.Variable:  # torchlint: ignore[TL201] the class is meant
            assert isinstance(torch.rand(1), value) or name != "torch.autograd.Variable"
            found[name] = "tensor"
        elif inspect.isclass(value) and name not in modules:
            found[name] = next((kind for base, kind in known if issubclass(value, base)), "other")
    return found


def constructors(found: dict[str, str]) -> dict[str, Result]:
    """What calling the classes of tensors in ``torch`` and ``torch.nn`` gives."""
    names = [name for name, kind in found.items() if kind in {"tensor", "parameter"} and name.count(".") <= 2]
    texts = ("2, 3", "[1.0, 2.0]", "[1, 2]", "w", "x", "i", "v", "s", "b")
    results = {name: look(resolve(name), probe_calls(texts), Known(name)) for name in sorted(names)}
    return {name: result for name, result in results.items() if result is not None}


def distribution() -> dict[str, Result]:
    """Methods and attributes of distributions, over a few of them; ``none`` results are those of missing methods."""
    built = [
        functools.partial(getattr(torch.distributions, name), *call.args)
        for name, texts in DISTRIBUTION_PROBES.items()
        for call in probe_calls(texts)
    ]
    names = {name for make in built for name in dir(make()) if not name.startswith("_")}
    return {name: result for name in sorted(names) if (result := _of_distributions(name, built)) != "any"}


def _of_distributions(name: str, built: Sequence[Callable[[], Any]]) -> Result:
    seen = []
    for make in built:
        for text in DISTRIBUTION_CALLS.get(name, (None,)):
            with contextlib.suppress(NotImplementedError, AttributeError):
                seen.append(_of_distribution(make(), name, text))
    return merge_calls(seen, Known(name)) if seen else "any"


def distributions() -> dict[str, Any]:
    """The parameters of distributions, what is no function of some of them, and what is made of integers."""
    found = {name: _one_distribution(name, texts[0]) for name, texts in DISTRIBUTION_PROBES.items()}
    return {f"torch.distributions.{name}": about for name, about in found.items()}


def _one_distribution(name: str, text: str) -> dict[str, Any]:
    cls, call = getattr(torch.distributions, name), probe_calls([text])[0]
    names = [key for key in inspect.signature(cls).parameters if key != "validate_args"]
    parameters = dict(zip(names, map_tensors(list(call.args), _without_grad), strict=False))
    own = [key for key in dir(cls(**parameters)) if not key.startswith("_")]
    free: dict[str, list[str]] = {}
    for varied, value in parameters.items():
        if isinstance(value, torch.Tensor):
            seen = {key: _of_made(cls, {**parameters, varied: _with_grad(value)}, key) for key in own}
            for key, one in seen.items():
                if one and one.tree.kind == "float" and not one.tree.requires_grad:
                    free.setdefault(key, []).append(varied)
    tensors = [value for value in parameters.values() if isinstance(value, torch.Tensor)]
    plain = {key: one for key in own if (one := _of_made(cls, parameters, key))}
    integers = [key for key, one in plain.items() if one.tree.kind == "int"]
    some = {key: of for key, of in free.items() if len(of) < len(tensors)}
    return {"parameters": names, **({"free": some} if some else {}), **({"integers": integers} if integers else {})}


def _of_made(cls: Any, parameters: dict[str, Any], name: str) -> Seen | None:
    """A tensor that a distribution with these parameters gives."""
    with contextlib.suppress(NotImplementedError, AttributeError):
        seen = _of_distribution(cls(**parameters), name, DISTRIBUTION_CALLS.get(name, (None,))[0])
        return seen if isinstance(seen.tree, Leaf) else None
    return None


def _parameters(made: Any) -> Iterator[torch.Tensor]:
    for value in vars(made).values():
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, torch.distributions.Distribution):
            yield from _parameters(value)


def _of_distribution(made: Any, name: str, text: str | None) -> Seen:
    before = replace(Before.of(list(_parameters(made)), {}, Known(name)), shapes=[])
    value = getattr(made, name)
    if text is not None:
        call = probe_calls([text], sampled=made.sample())[0]
        value = value(*call.args)
    return Seen("other" if callable(value) else _tree(value, before))


def modules() -> dict[str, dict[str, Any]]:
    """Every public module of ``torch.nn``, built and run."""
    database = {info.module_cls: info for info in import_testing()[1]}
    found = {}
    for name, value in public_names().objects.items():
        if name.startswith("torch.nn.") and inspect.isclass(value) and issubclass(value, torch.nn.Module):
            pairs = [*_probe_pairs(value.__name__), *_database_pairs(database.get(value))]
            found[name] = _module(value, pairs)
    return found


Pair = tuple[Call, "Call | None"]


def _database_pairs(info: Any) -> Iterator[Pair]:
    if info is None:
        return
    seed()
    for sample in info.module_inputs_func(info, device="cpu", dtype=torch.float32, requires_grad=False, training=True):
        made, called = sample.constructor_input, sample.forward_input
        yield Call(tuple(made.args), made.kwargs), Call(tuple(called.args), called.kwargs) if called else None


def _probe_pairs(name: str) -> Iterator[Pair]:
    if name not in MODULE_PROBES:
        return
    made, *called = MODULE_PROBES[name]
    if not called:
        yield probe_calls([made])[0], None
    for text in called:
        yield probe_calls([made])[0], probe_calls([text])[0]


def _module(cls: Any, pairs: Sequence[Pair]) -> dict[str, Any]:
    known = Known(cls.__name__, tuple(live_signatures(cls)), takes_self=True)
    seen: list[Seen] = []
    names: dict[str, set[str]] = {"params": set(), "buffers": set(), "attributes": set()}
    trainable, in_place = [], []
    for made, called in pairs[:40]:
        for variant in _constructions(made, known):
            with contextlib.suppress(Exception):
                seed()
                module = cls(*variant.args, **variant.kwargs)
                names["params"] |= set(module._parameters)
                names["buffers"] |= set(module._buffers)
                names["attributes"] |= {key for key in vars(module) if not key.startswith("_")} - {"training"}
                ran = [] if called is None else _run_module(module, variant, called, known)
                if variant.kwargs.get("inplace"):
                    in_place += ran
                else:
                    seen += ran
                trainable += [variant] if _trainable(module, called) else []
    found = _describe(names, seen, in_place, known)
    return {**found, "trainable": _if_trainable(cls, pairs, known) or True} if trainable else found


def _if_trainable(cls: Any, pairs: Sequence[Pair], known: Known) -> list[Any] | None:
    """Name, position and default of the argument without which a module has nothing to train."""
    for name, parameter in inspect.signature(cls).parameters.items():
        if isinstance(parameter.default, bool) and _decides(cls, pairs, name):
            return [name, known.at(name), parameter.default]
    return None


def _decides(cls: Any, pairs: Sequence[Pair], name: str) -> bool:
    """Whether a call requires grad exactly if an argument of the constructor is true."""
    for made, called in pairs[:4]:
        found = {}
        for value in (True, False):
            with contextlib.suppress(Exception):
                found[value] = _trainable(cls(*made.args, **{**made.kwargs, name: value}), called)
        if len(found) == 2:
            return found == {True: True, False: False}
    return False


def _describe(
    names: dict[str, set[str]], seen: Sequence[Seen], in_place: Sequence[Seen], known: Known
) -> dict[str, Any]:
    output = _without_always(merge_calls(seen, known)) if seen else "any"
    if in_place and isinstance(output, dict) and all(isinstance(o.tree, Leaf) and o.tree.is_first for o in in_place):
        output["inplace_flag"] = "inplace"
    result: dict[str, Any] = {key: sorted(value) for key, value in names.items()}
    return {**result, "output": output}


def _without_always(result: Result) -> Result:
    if isinstance(result, dict):
        return {key: _without_always(value) for key, value in result.items() if (key, value) != ("grad", "always")}
    return [_without_always(item) for item in result] if isinstance(result, list) else result


def _constructions(made: Call, known: Known) -> Iterator[Call]:
    """The call, and the same with other values of the arguments that change what comes out."""
    yield made
    if known.has("inplace"):
        yield Call(made.args, {**made.kwargs, "inplace": True})
    if known.has("reduction"):
        yield Call(made.args, {**made.kwargs, "reduction": "none"})
    if known.has("return_indices"):
        yield Call(made.args, {**made.kwargs, "return_indices": True})


def _run_module(module: torch.nn.Module, made: Call, called: Call, known: Known) -> list[Seen]:
    integers = Call(map_tensors(called.args, torch.Tensor.long), map_tensors(called.kwargs, torch.Tensor.long))
    calls = [called, *variations(called, Known("")), integers]
    unreduced = made.kwargs.get("reduction") == "none"
    flags = known.flags((None, *made.args), made.kwargs)
    ran = [one for call in calls if (one := run(module, call, Known("")))]
    return [replace(one, case="no_args", flags=flags, unreduced=unreduced) for one in ran]


def _trainable(module: torch.nn.Module, called: Call | None) -> bool:
    if called is None:
        return False
    made = module(*map_tensors(called.args, _without_grad), **map_tensors(called.kwargs, _without_grad))
    return any(tensor.requires_grad for tensor in tensors_in(made))


def aliases(known: set[str]) -> dict[str, str]:
    """Other names of the functions and classes that are known."""
    return {name: target for name, target in public_names().aliases.items() if target in known}


def constants() -> dict[str, str]:
    """Public values of ``torch`` that are neither dtypes nor callable."""
    found = {}
    for name, value in vars(torch).items():
        kind = next((kind for cls, kind in PLAIN if isinstance(value, cls)), "none")
        if kind not in {"dtype", "none"} and not name.startswith("_"):
            found[f"torch.{name}"] = kind
    return found


def dtypes() -> dict[str, str]:
    """Kinds of the public dtypes."""
    return {f"torch.{name}": dtype_kind(value) for name, value in vars(torch).items() if isinstance(value, torch.dtype)}


def generate() -> dict[str, Any]:
    """Everything the file holds."""
    torch.set_num_threads(1)
    torch.distributions.Distribution.set_default_validate_args(True)  # torch.compile turns it off
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        samples = sample_calls()
        found_modules = modules()
        found_classes = classes(found_modules)
        found_functions = functions(samples)
        return {
            "torch": torch.__version__.partition("+")[0],
            "functions": found_functions,
            "methods": methods(samples),
            "attributes": attributes(),
            "operators": operators(samples),
            "tensor_only": tensor_only(),
            "tensor_or_module": tensor_or_module(),
            "modules": found_modules,
            "classes": found_classes,
            "constructors": constructors(found_classes),
            "distribution": distribution(),
            "distributions": distributions(),
            "aliases": aliases({*found_functions, *found_modules, *found_classes}),
            "constants": constants(),
            "dtypes": dtypes(),
        }


def render(data: dict[str, Any]) -> str:
    """JSON with one entry a line, sorted."""
    parts = []
    for key, value in data.items():
        if isinstance(value, str):
            parts.append(f"{json.dumps(key)}: {json.dumps(value)}")
        elif isinstance(value, list):
            lines = ",\n".join(f"  {json.dumps(item)}" for item in sorted(value))
            parts.append(f"{json.dumps(key)}: [\n{lines}\n ]")
        else:
            lines = ",\n".join(f"  {json.dumps(name)}: {_compact(value[name])}" for name in sorted(value))
            parts.append(f"{json.dumps(key)}: {{\n{lines}\n }}")
    return "{\n " + ",\n ".join(parts) + "\n}\n"


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def main() -> int:
    """Write the file, or compare it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="only compare with the file that is there")
    check = parser.parse_args().check
    text = render(generate())
    if check:
        return int(OUTPUT.read_text(encoding="utf-8") != text)
    OUTPUT.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
