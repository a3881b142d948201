"""Content of the pages, in a folder for each page: its SELECTs, its arithmetic, its figures."""
