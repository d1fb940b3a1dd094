"""From any table to typed columns: intake, schema, targets, weights, bins."""
