"""Content of the pages, a folder each: its SELECTs, its arithmetic, its figures."""
