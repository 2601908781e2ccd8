"""What only reads a tensor: it writes nothing to it and keeps no part of its memory."""

from __future__ import annotations

METADATA = frozenset(
    (
        *("shape", "dtype", "device", "ndim", "is_cuda", "layout", "itemsize", "nbytes", "size", "dim", "ndimension"),
        *("numel", "nelement", "get_device", "is_contiguous", "stride", "element_size", "is_floating_point"),
        *("is_complex", "storage_offset", "data_ptr", "is_sparse", "is_meta", "is_quantized", "is_pinned", "is_shared"),
        *("names", "__len__"),
    )
)
"""What a tensor says of itself without reading its elements."""
_FUNCTIONS = frozenset(
    (
        *(
            "torchvision.utils.save_image",
            "torchvision.utils.make_grid",
            "torchvision.transforms.functional.to_pil_image",
        ),
        *("torch.testing.assert_close", "torch.testing.assert_allclose", "torch.save"),
        *("json.dump", "json.dumps", "pickle.dump", "pickle.dumps", "pprint.pprint"),
    )
)
_LIBRARIES = ("matplotlib", "seaborn", "PIL", "imageio", "skimage", "wandb", "visdom", "logging", "unittest")
"""What draws, shows or reports: numbers are copied out of what it is given."""
_METHODS = frozenset(
    (
        *("add_audio", "add_embedding", "add_figure", "add_histogram", "add_image", "add_images", "add_mesh"),
        *("add_pr_curve", "add_scalar", "add_scalars", "add_text", "add_video", "imsave", "imshow", "log_scalar"),
        *("assertAlmostEqual", "assertEqual", "assertGreater", "assertLess", "assertTrue", "assertFalse"),
        *("format", "writerow"),
    )
)
"""Methods that only writers of summaries, axes, tests and texts have."""


def is_reading(ref: str) -> bool:
    """Whether a function of that qualified name only reads its arguments."""
    return ref in _FUNCTIONS or ref.partition(".")[0] in _LIBRARIES


def is_reading_method(name: str) -> bool:
    """Whether a method of that name only reads its arguments, whatever it is called on."""
    return name in _METHODS
