"""Reading drawings: what lies on matplotlib's axes, as numbers."""

import numpy as np
from matplotlib.collections import QuadMesh


def lines_of(ax):
    """Lines by their labels: (x, y)."""
    return {line.get_label(): np.asarray(line.get_data()) for line in ax.get_lines()}


def legend_of(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def mesh_of(ax):
    (mesh,) = [drawn for drawn in ax.collections if isinstance(drawn, QuadMesh)]
    return mesh


def points_of(ax, X):
    """Area and width of the ring of every row of X."""
    areas, rings = np.full(len(X), np.nan), np.full(len(X), np.nan)
    for drawn in ax.collections:
        if isinstance(drawn, QuadMesh):
            continue
        for place, point in enumerate(drawn.get_offsets()):
            (row,) = np.flatnonzero((point == X).all(axis=1))
            areas[row] = drawn.get_sizes()[place]
            rings[row] = drawn.get_linewidths()[place]
    return areas, rings


def shades_at(ax, points):
    """Colour of the background at each point."""
    mesh = mesh_of(ax)
    corners = mesh.get_coordinates()
    across, up = corners[0, :, 0], corners[:, 0, 1]
    colours = np.asarray(mesh.get_array()).reshape(len(up) - 1, len(across) - 1, -1)
    return colours[np.searchsorted(up, points[:, 1]) - 1, np.searchsorted(across, points[:, 0]) - 1]
