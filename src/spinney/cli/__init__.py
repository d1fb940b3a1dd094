"""The ``spinney`` command."""
