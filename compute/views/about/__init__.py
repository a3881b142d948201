"""For the page About the numbers, and for the panel on how numbers were made."""
