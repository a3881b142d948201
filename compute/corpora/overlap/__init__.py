"""Similarity of corpora: words counted out of core, compared by weighted Jaccard.

`tokens` defines words, `counting` counts a corpus into parts, `partitions` keeps all terms by
hash on disk, `jaccard` has the definition, `comparing` applies it to the counts;
`views.overlap.select.similarities` reads the result.
"""

from compute.corpora.overlap.comparing import compare, up_to_date
from compute.corpora.overlap.counting import Counting, Pieces, count, current, tokens_of
from compute.corpora.overlap.jaccard import FLOORS
from compute.corpora.overlap.tokens import UNITS
