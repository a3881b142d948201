"""From texts to counts: lengths, words, and how alike collections are."""
