"""The views of the page How numbers are computed, and of the provenance panel."""
