"""Growing one tree: settings, bins and targets in; a tree of the frozen model out."""
