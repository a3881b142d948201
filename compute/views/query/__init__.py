"""The views of the pages Query and Map."""
