"""What the report looks for in the columns and rows of a table."""
