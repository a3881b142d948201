"""Views of *How numbers are computed* and of the provenance panel."""
