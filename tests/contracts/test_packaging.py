"""What a user installs. Slow, because it builds: run by `make test-long`."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def run(*command, **options):
    scripts = str(Path(sys.executable).parent)
    environment = {**os.environ, "PATH": scripts + os.pathsep + os.environ["PATH"]}
    return subprocess.run(
        command, cwd=ROOT, env=environment, check=True, capture_output=True, text=True, **options
    ).stdout


@pytest.mark.long
def test_wheel_is_small_and_holds_the_package_and_nothing_else(tmp_path):
    pip = (sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--quiet")
    run(*pip, "--wheel-dir", str(tmp_path), ".")
    (wheel,) = tmp_path.glob("*.whl")
    assert wheel.stat().st_size < 10_000_000
    names = zipfile.ZipFile(wheel).namelist()
    assert "spinney/py.typed" in names
    assert "spinney/_native/_ext.pyi" in names
    assert any(name.startswith("spinney/_native/_ext") and name.endswith(".so") for name in names)
    assert all(name.startswith(("spinney/", "spinney-")) for name in names)


@pytest.mark.long
def test_a_second_run_of_make_builds_nothing_and_a_touched_kernel_is_rebuilt():
    run("make", "build/installed.stamp")
    assert "pip install" not in run("make", "--dry-run", "demo")
    kernel = ROOT / "native/data/bin_search_two_steps.inl"
    before = kernel.stat()
    try:
        kernel.touch()
        assert "pip install" in run("make", "--dry-run", "demo")
    finally:
        os.utime(kernel, ns=(before.st_atime_ns, before.st_mtime_ns))
