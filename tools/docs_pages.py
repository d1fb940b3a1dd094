"""Pages of the site that nobody writes by hand; MkDocs calls the functions named ``on_...``.

* The first page is the README; the map, the house rules and the changelog come from the root, too.
* Reference pages list the public names, read from the sources without importing them.
* In ``docs/benchmarks.md`` a paragraph that is a link to a file of results becomes that file, and
  the misses of all of them stand in a table of their own.
"""

import ast
import posixpath
import re
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from missed_targets import missed_table
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
DUELS = ROOT / "benchmarks" / "duels" / "results"
PACKAGE = ROOT / "src" / "spinney"
FROM_THE_ROOT = {
    "README.md": "index.md",
    "ARCHITECTURE.md": "development/architecture.md",
    "CONTRIBUTING.md": "development/contributing.md",
    "CHANGELOG.md": "development/changelog.md",
    "benchmarks/README.md": "development/benchmarks.md",
    "benchmarks/defaults/results/summary.md": "development/defaults.md",
    "benchmarks/defaults/variants.md": "development/default-variants.md",
}
FAMILIES = {
    "gradient": "Gradient boosting",
    "adaptive": "AdaBoost",
    "margin": "Margin boosting",
    "robust": "Robust boosting",
    "functional": "Functional boosting",
    "trees": "Single trees",
    "forests": "Forests",
    "bagging": "Bagging",
    "combining": "Combining",
    "selecting": "Selecting",
    "uncertain": "Intervals, sets, calibration",
}
MODULES = (
    "io",
    "datasets",
    "explain",
    "plots",
    "report",
    "uncertainty",
    "resampling",
    "theory",
    "losses",
    "model",
    "progress",
    "errors",
)
RESULTS = re.compile(r"^\[[^\]]*\]\(\.\./(benchmarks/[\w/]+results/\w+\.md)\)$", re.MULTILINE)
MISSED = re.compile(r"^<!-- missed -->$.*?^<!-- /missed -->$", re.MULTILINE | re.DOTALL)
NEIGHBOURS = re.compile(r"^(## .*) \((other processes .*)\)$", re.MULTILINE)
LINK = re.compile(r"(\]\()(?!https?:|#)([^()\s#]+\.(?:md|svg))((?:#[^)\s]*)?\))")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made here, and then say where they stand in the navigation."""
    pages = {page: (ROOT / s).read_text(encoding="utf-8") for s, page in FROM_THE_ROOT.items()}
    pages |= estimator_pages() | module_pages()
    for page, text in pages.items():
        files.append(File.generated(config, page, content=text))
    names = [file.src_uri for file in files]
    config.nav = expand(config.nav, [*pages, *sorted(set(names) - set(pages))])
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Put the tables of the duels where a page links to them, and turn the other links."""
    name = page.file.src_uri
    if name == "benchmarks.md":
        markdown = MISSED.sub(lambda _: missed_table(DUELS), markdown)
        markdown = RESULTS.sub(lambda link: results(ROOT / link[1]), markdown)
    return turn_links(markdown, name)


def on_page_content(html: str, **_: Any) -> str:
    """Take the roles of Sphinx out of docstrings."""
    return re.sub(r":(?:class|func|meth|mod|attr|data):(?=<code>)", "", html)


def results(path: Path) -> str:
    """Give a file of results as a part of a page: headings a level down, the machine small."""
    text = path.read_text(encoding="utf-8")
    text = NEIGHBOURS.sub(r"\1\n\n<small>\2</small>", text)
    text = re.sub(r"^## ", "### ", text, flags=re.MULTILINE)
    return re.sub(r"^((?:Measured |cpu ).*)$", r"<small>\1</small><br>", text, flags=re.MULTILINE)


def turn_links(text: str, page: str) -> str:
    """Let links between documents of the repository lead to their pages."""
    source = next((s for s, p in FROM_THE_ROOT.items() if p == page), f"docs/{page}")

    def turned(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(source), link[2]))
        to = FROM_THE_ROOT.get(target, target.removeprefix("docs/"))
        is_page = to != target or source.startswith("docs/")
        there = posixpath.relpath(to, posixpath.dirname(page) or ".")
        return link[1] + (there if is_page else link[2]) + link[3]

    return LINK.sub(turned, text)


def estimator_pages() -> dict[str, str]:
    """Give a page per family of estimators."""
    homes = constant(PACKAGE / "__init__.py", "ESTIMATORS") | {
        "boost_matrix": "spinney.ensembles.adaptive.matrix"
    }
    members: dict[str, list[str]] = {family: [] for family in FAMILIES}
    for name, home in homes.items():
        members[home.split(".")[2]].append(name)
    return {
        f"reference/estimators/{family}.md": reference_page(
            FAMILIES[family], "", [f"spinney.{name}" for name in names]
        )
        for family, names in members.items()
    }


def module_pages() -> dict[str, str]:
    """Give a page per module with public names."""
    return {f"reference/modules/{name}.md": module_page(name) for name in MODULES}


def module_page(module: str) -> str:
    """List what a module offers: its ``__all__``, or all names without an underscore."""
    path = PACKAGE / module / "__init__.py"
    path = path if path.exists() else PACKAGE / f"{module}.py"
    tree = ast.parse(path.read_text(encoding="utf-8"))
    defined = [n.name for n in tree.body if isinstance(n, ast.ClassDef | ast.FunctionDef)]
    names = constant(path, "__all__") or [name for name in defined if not name.startswith("_")]
    offered = [f"spinney.{module}.{name}" for name in names]
    return reference_page(f"spinney.{module}", ast.get_docstring(tree) or "", offered)


def reference_page(title: str, introduction: str, names: list[str]) -> str:
    """Write a page whose parts mkdocstrings fills from the docstrings."""
    parts = [f"# {title}", introduction.replace("``", "`"), *(f"::: {name}" for name in names)]
    return "\n\n".join(parts) + "\n"


def constant(path: Path, name: str) -> Any:
    """Read a constant of a module without importing it; None if there is none."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if any(isinstance(target, ast.Name) and target.id == name for target in targets):
            return ast.literal_eval(node.value)
    return None


def expand(nav: Any, names: list[str]) -> Any:
    """Put pages where the navigation has a name with a star, and drop what is empty."""
    if isinstance(nav, list):
        entries = [expand(entry, names) for entry in nav]
        flat = [e for entry in entries for e in (entry if isinstance(entry, list) else [entry])]
        return [entry for entry in flat if entry]
    if isinstance(nav, dict):
        inner = {title: expand(entry, names) for title, entry in nav.items()}
        return {title: alone(entry) for title, entry in inner.items() if entry}
    return [name for name in names if fnmatch(name, nav)] if "*" in nav else nav


def alone(entry: Any) -> Any:
    """Let a section of one page be that page."""
    return entry[0] if isinstance(entry, list) and len(entry) == 1 else entry
