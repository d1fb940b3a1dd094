"""Figures as SVG, written by hand: small, themed by the style sheet, printed as they are."""
