"""The house rules that a machine can check: budgets, names, arrows, and things that must agree."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
NATIVE = sorted((ROOT / "native").rglob("*.?pp"))
TRACKED = sorted(
    path
    for folder in ("src", "native", "tests", "benchmarks", "examples", "tools", "docs")
    for path in (ROOT / folder).rglob("*")
    if path.is_file() and "__pycache__" not in path.parts
)
LIMITS = {"lines in a file": 400, "lines in a function": 60, "parameters": 8}
FORBIDDEN = {"utils", "helpers", "common", "misc", "core", "basic"}
NATIVE_FOLDERS = {  # folder: folders it may include
    "base": {"base"},
    "data": {"base", "data"},
    "model": {"base", "data", "model"},
    "trees": {"base", "data", "model", "trees"},
    "bindings": {"base", "data", "model", "trees", "bindings"},
}


def relative(path):
    return str(path.relative_to(ROOT))


def functions(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]


def body_lines(function):
    """Lines of a function without its docstring, which may be as long as it is useful."""
    first = function.body[0]
    docstring = ast.get_docstring(function) is not None
    lines = function.end_lineno - function.lineno + 1
    return lines - (first.end_lineno - first.lineno + 1 if docstring else 0)


@pytest.mark.parametrize(
    "path", [p for p in TRACKED if p.suffix in {".py", ".cpp", ".hpp"}], ids=relative
)
def test_file_is_within_its_budget(path):
    assert path.read_text(encoding="utf-8").count("\n") <= LIMITS["lines in a file"]


@pytest.mark.parametrize("path", SOURCES, ids=relative)
def test_functions_are_within_their_budget(path):
    for function in functions(path):
        assert body_lines(function) <= LIMITS["lines in a function"], function.name
        if function.name != "__init__":  # constructors may list hyper-parameters
            n_parameters = len(function.args.args) + len(function.args.kwonlyargs)
            assert n_parameters <= LIMITS["parameters"], function.name


def test_nine_functions_in_ten_are_short():
    lengths = sorted(body_lines(f) for path in SOURCES for f in functions(path))
    assert lengths[int(0.9 * len(lengths))] <= 25


@pytest.mark.parametrize("path", NATIVE, ids=relative)
def test_native_functions_are_within_their_budget(path):
    # A function of ours ends with a brace in the column where its head begins (clang-format).
    length = 0
    for line in path.read_text(encoding="utf-8").splitlines():
        starts = re.match(r"(    )?[\w:<>&*,\s\[\]]+\(.*\)?.*\{$", line) and "namespace" not in line
        length = 1 if starts else length + 1
        if re.match(r"(    )?\}", line):
            assert length <= LIMITS["lines in a function"], f"{path.name}: before {line!r}"
            length = 0


@pytest.mark.parametrize("path", TRACKED, ids=relative)
def test_no_file_or_folder_has_an_empty_name(path):
    assert not FORBIDDEN & {part.split(".")[0] for part in path.relative_to(ROOT).parts}


@pytest.mark.parametrize("path", NATIVE, ids=relative)
def test_native_includes_point_downwards(path):
    folder = path.relative_to(ROOT / "native").parts[0]
    text = path.read_text(encoding="utf-8")
    included = set(re.findall(r'#include "native/(\w+)/', text))
    assert included <= NATIVE_FOLDERS[folder]
    if folder != "bindings":
        assert not re.search(r"#include [<\"](Python\.h|nanobind)", text)


def test_no_openmp_and_no_pickle():
    for path in [*NATIVE, *SOURCES]:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"#include <omp|#pragma omp|-fopenmp", text), path
        assert not re.search(r"^\s*(import|from) (pickle|joblib|cloudpickle|dill)", text, re.M), (
            path
        )


def test_import_arrows_point_downwards():
    linter = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([linter], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_native_stub_is_what_the_extension_says(tmp_path):
    fresh = tmp_path / "_ext.pyi"
    command = [sys.executable, "-m", "nanobind.stubgen", "-m", "spinney._native._ext", "-o", fresh]
    subprocess.run(command, check=True, capture_output=True)
    committed = ROOT / "src/spinney/_native/_ext.pyi"
    assert committed.read_text() == fresh.read_text(), "run `make stubs`"


def test_import_is_cheap_and_brings_no_guests():
    code = (
        "import sys, spinney, spinney.ensembles.trees.decision_tree, spinney.io\n"
        "print([m for m in ('pandas', 'polars', 'pyarrow', 'matplotlib') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_public_estimator_lists_a_rule_for_every_parameter():
    import spinney

    for name in spinney.ESTIMATORS:
        estimator = getattr(spinney, name)
        assert set(estimator._rules) == set(estimator().get_params()), name
        assert estimator.__doc__, name


@pytest.mark.parametrize("name", ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_paths_named_in_the_documents_exist(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    named = re.findall(r"`((?:src|native|tests|benchmarks|docs|examples|tools)/[\w/.-]+)`", text)
    missing = [path for path in named if not (ROOT / path).exists()]
    assert not missing
