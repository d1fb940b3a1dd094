"""One member, or a few, chosen from many: greedily, near each row, or by bumping."""
