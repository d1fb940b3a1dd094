"""The house rules that a machine can check: budgets, names, arrows, and things that must agree."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
NATIVE = sorted(p for p in (ROOT / "native").rglob("*") if p.suffix in {".cpp", ".hpp", ".inl"})
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
    "io": {"base", "io"},
    "losses": {"base", "losses"},
    "model": {"base", "data", "model"},
    "trees": {"base", "data", "model", "trees"},
    "resampling": {"base", "resampling"},
    "explain": {"base", "data", "model", "explain"},
    "bindings": {
        *("base", "data", "explain", "io", "losses", "model", "resampling", "trees", "bindings"),
    },
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


def test_files_are_within_their_budget():
    code = [path for path in TRACKED if path.suffix in {".py", ".cpp", ".hpp", ".inl"}]
    lengths = {relative(path): path.read_text("utf-8").count("\n") for path in code}
    assert {p: n for p, n in lengths.items() if n > LIMITS["lines in a file"]} == {}


def test_functions_are_within_their_budget():
    for path in SOURCES:
        for function in functions(path):
            place = f"{relative(path)}: {function.name}"
            if function.name != "__init__":  # constructors may list hyper-parameters
                assert body_lines(function) <= LIMITS["lines in a function"], place
            if function.name not in ("__init__", "fit"):  # and fit what users may give
                n_parameters = len(function.args.args) + len(function.args.kwonlyargs)
                assert n_parameters <= LIMITS["parameters"], place


def test_nine_functions_in_ten_are_short():
    lengths = sorted(body_lines(f) for path in SOURCES for f in functions(path))
    assert lengths[int(0.9 * len(lengths))] <= 25


def native_functions(path):
    """Names and lengths of C++ functions, by the layout that clang-format gives them.

    A head starts in column 0 (or 4, inside a class) and its closing brace stands in that column.
    """
    lines = path.read_text("utf-8").splitlines()
    for i, line in enumerate(lines):
        head = re.match(
            r"( {4})?(?!//|return|namespace|struct|class|enum|if|for|while|switch|public)\S", line
        )
        opening = next((j for j in range(i, min(i + 6, len(lines))) if "{" in lines[j]), None)
        if not head or "(" not in line or opening is None or lines[opening].endswith("}"):
            continue
        brace = (head[1] or "") + "}"
        end = next((j for j in range(opening, len(lines)) if lines[j].startswith(brace)), opening)
        if not any(";" in lines[j] for j in range(i, opening)):
            yield line.strip(), end - i + 1


def test_native_functions_are_within_their_budget():
    found = [(relative(p), *function) for p in NATIVE for function in native_functions(p)]
    assert len(found) > 100  # the heuristic sees the functions at all
    bindings = "native/bindings/"  # one function per module lists what it binds
    long = [f for f in found if f[2] > LIMITS["lines in a function"]]
    assert [f for f in long if not f[0].startswith(bindings)] == []


def test_no_file_or_folder_has_an_empty_name():
    parts = {part.split(".")[0] for path in TRACKED for part in path.relative_to(ROOT).parts}
    assert FORBIDDEN & parts == set()


def test_native_includes_point_downwards():
    for path in NATIVE:
        folder = path.relative_to(ROOT / "native").parts[0]
        text = path.read_text("utf-8")
        included = set(re.findall(r'#include "native/(\w+)/', text))
        assert included <= NATIVE_FOLDERS[folder], relative(path)
        if folder != "bindings":
            assert not re.search(r"#include [<\"](Python\.h|nanobind)", text), relative(path)


def test_no_openmp_and_no_pickle():
    for path in [*NATIVE, *SOURCES]:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"#include <omp|#pragma omp|-fopenmp", text), path
        assert not re.search(
            r"^\s*(import|from) (pickle|joblib|cloudpickle|dill)", text, re.MULTILINE
        ), path


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


def test_everything_works_on_numpy_without_the_optional_guests():
    code = (
        "import sys\n"
        "for guest in ('pandas', 'polars', 'pyarrow', 'matplotlib'):\n"
        "    sys.modules[guest] = None  # importing it now fails\n"
        "import spinney\n"
        "tree = spinney.DecisionTreeRegressor().fit([[0.0], [1.0]], [1.0, 2.0])\n"
        "print(tree.predict([[3.0]])[0])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "2.0"


def test_importing_the_package_alone_loads_next_to_nothing():
    code = "import sys, spinney; print([m for m in ('numpy', 'sklearn') if m in sys.modules])"
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
