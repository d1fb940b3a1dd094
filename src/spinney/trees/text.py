"""A tree as text, and as source for Graphviz."""

from spinney.trees.words import TreeWords


def tree_text(words: TreeWords, *, max_depth: int | None = None) -> str:
    """Write a tree as an indented list of questions and answers.

    Parameters
    ----------
    words : the tree
    max_depth : int or None
        Levels of questions that are written; None for all.

    Examples
    --------
    >>> from spinney import DecisionTreeClassifier
    >>> X = [[1.0, "ash"], [2.0, "fir"], [3.0, "fir"], [4.0, "ash"]]
    >>> tree = DecisionTreeClassifier().fit(X, ["small", "small", "tall", "tall"])
    >>> print(tree_text(TreeWords.of(tree.model_)))
    x0 <= 2.5
    ├─ yes: small (100%), 2 rows
    └─ no:  tall (100%), 2 rows
    """
    lines: list[str] = []
    # (node, what stands before its line, what stands before the lines below it, its depth)
    open_nodes = [(0, "", "", 0)]
    right = words.tree.right
    while open_nodes:
        node, before, below, depth = open_nodes.pop()
        is_leaf = right[node] < 0
        if is_leaf or depth == max_depth:
            end = "" if is_leaf else ", …"
            lines.append(f"{before}{words.answer(node)}, {words.rows(node)}{end}")
            continue
        lines.append(f"{before}{words.question(node)}")
        open_nodes.append((int(right[node]), f"{below}└─ no:  ", f"{below}   ", depth + 1))
        open_nodes.append((node + 1, f"{below}├─ yes: ", f"{below}│  ", depth + 1))
    return "\n".join(lines)


def tree_graphviz(words: TreeWords, *, max_depth: int | None = None) -> str:
    r"""Write a tree in Graphviz' language DOT; ``dot -Tsvg`` draws it.

    Parameters
    ----------
    words : the tree
    max_depth : int or None
        Levels of questions that are drawn; None for all.

    Examples
    --------
    >>> from spinney import DecisionTreeRegressor
    >>> tree = DecisionTreeRegressor().fit([[0.0], [1.0]], [2.0, 3.0])
    >>> print(tree_graphviz(TreeWords.of(tree.model_)))
    digraph tree {
      node [shape=box, style=rounded, fontname="Helvetica"];
      edge [fontname="Helvetica"];
      n0 [label="x0 <= 0.5\n2.5\n2 rows"];
      n1 [label="2\n1 row"];
      n0 -> n1 [label="yes"];
      n2 [label="3\n1 row"];
      n0 -> n2 [label="no"];
    }
    """
    lines = [
        "digraph tree {",
        '  node [shape=box, style=rounded, fontname="Helvetica"];',
        '  edge [fontname="Helvetica"];',
    ]
    open_nodes = [(0, "", 0)]
    right = words.tree.right
    while open_nodes:
        node, edge, depth = open_nodes.pop()
        is_leaf = right[node] < 0
        goes_on = not is_leaf and depth != max_depth
        told = [words.question(node)] if goes_on else []
        told += [words.answer(node), words.rows(node)]
        told += ["…"] if not is_leaf and not goes_on else []
        label = r"\n".join(map(_escaped, told))
        lines.append(f'  n{node} [label="{label}"];')
        lines += [edge] if edge else []
        if goes_on:
            other = int(right[node])
            open_nodes.append((other, f'  n{node} -> n{other} [label="no"];', depth + 1))
            open_nodes.append((node + 1, f'  n{node} -> n{node + 1} [label="yes"];', depth + 1))
    return "\n".join([*lines, "}"])


def _escaped(text: str) -> str:
    """Write text so that Graphviz shows it as it is, whatever names are made of."""
    plain = text.replace("\\", "\\\\").replace('"', '\\"')
    return plain.replace("\r", " ").replace("\n", " ")
