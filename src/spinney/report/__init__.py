"""A report to hand on: one HTML file about a fitted model and the rows it was asked about."""

from spinney.report.writing import report_html as report_html
from spinney.report.writing import write_report as write_report

__all__: list[str] = ["report_html", "write_report"]
