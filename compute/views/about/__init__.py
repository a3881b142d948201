"""For the page How numbers are computed, and the panel of provenance."""
