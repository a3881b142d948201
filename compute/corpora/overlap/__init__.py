"""Similarity of corpora: words are counted on disk and compared by weighted Jaccard similarity.
`tokens` defines words, `counting` counts a corpus into parts, `partitions` divides all terms by
hash on disk, `jaccard` defines the similarity, and `comparing` applies it to the counts.
`views.overlap.select.similarities` reads the result."""

from compute.corpora.overlap.comparing import compare, up_to_date
from compute.corpora.overlap.counting import Counting, Pieces, count, current, tokens_of
from compute.corpora.overlap.jaccard import FLOORS
from compute.corpora.overlap.tokens import UNITS
