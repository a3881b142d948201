"""The pages: a file each, with sections in a folder of the same name after an underscore."""
