"""The pages: one file each, the sections of one in the folder of its name behind an underscore."""
