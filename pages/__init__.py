"""The pages: one file each, with its sections in a folder of its name after an underscore."""
