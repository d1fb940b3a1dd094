"""One adapter per kind of table; each hands back columns and never touches its input."""
