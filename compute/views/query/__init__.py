"""For the pages Query and Map."""
