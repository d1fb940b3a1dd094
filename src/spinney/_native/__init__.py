"""The compiled kernels, as a package so that the import contracts can see it."""

try:
    from spinney._native import _ext
except ImportError as error:  # pragma: no cover - only without a build
    raise ImportError(
        "Spinney's native part is missing. In a checkout run `make demo` or "
        "`pip install --editable .`; otherwise reinstall the package: `pip install "
        "--force-reinstall spinney`."
    ) from error

__all__ = ["_ext"]
