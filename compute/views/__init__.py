"""What the pages show, a folder for each page: its SELECTs, its arithmetic, its figures."""
