"""The contract of evaluation in plain words, for the page About the numbers.

What can be derived (measures, datasets, tables) is; the rules are written out, and the modules
that keep them are named.
"""

import inspect

import pandas as pd
from pandas import DataFrame

from compute.datasets import DATASETS, published
from compute.evaluate.measures import MEASURES, label, parse
from compute.evaluate.tolerance import TOLERANCE
from compute.store import provenance


def _dropping_self() -> str:
    shown = [row for row in DATASETS.values() if row.drop_self and "/" not in row.name]
    return ", ".join(row.title for row in shown)


RULES = f"""
One ranking feeds every number. It is set once, when a run is stored:

1. A document with the id of its query leaves the ranking before anything is cut, where the query
   is a document of its own collection: {_dropping_self()}. BEIR's own code and Pyserini's runs
   drop equal ids on every dataset; elsewhere an equal id is chance and stays. A system searches
   one deeper there, so that 100 remain of 100.
2. Hits are sorted by score, compared as a 32-bit number, highest first; equal scores by document
   id, descending by its bytes. That is trec_eval's order. The rank column of a run file is ignored.
3. A query that a run does not answer scores 0, as `trec_eval -c` has it. "Returned queries only"
   averages over the answered ones, as BEIR's code does, and is labelled so.
4. A document twice in one list keeps its higher place, and the import counts the others. A score
   that is not a number, or infinite as a 32-bit number, refuses the file.

Then a run is held against the judgements of the split:

- A document without a judgement for the query counts as not relevant. Relevance above 0 is
  relevant; gain is linear in the grade. Below 0 is judged, with gain 0.
- A query whose judgements are all 0 counts, with 0. A query without any judgement is not
  evaluated. A query without a relevant document scores 0 on every measure.
- Holes are hits without a judgement *for that query*: a document that was judged for another
  query is still a hole. BEIR's code has another definition; it is offered under its own name.
  Hole@k and Judged@k of a query without hits are absent, not 0, and left out of the mean; the
  number of unanswered queries stands beside them.
- What a score can be has three ranges, each over every way of grading documents that nobody
  judged for the query, with any grade that the judgements have. *Own list*: the holes in the
  system's own top k. *Pool*: those, and what else the stored runs retrieved for the query, each
  run to the depth that is kept. *Collection*: any document of the collection, retrieved or not. All
  are over the queries evaluated today, and both ends of each are exact. A relevant document outside
  the top k raises what a sum is divided by: nDCG by the best list, R_cap by k at most, R and AP by
  the number of relevant documents, so that their low ends go towards 0. P, RR and Success are
  divided by none of these: their three ranges are the same.
- Whether the order of two systems could turn is asked of their difference, in each of the three
  ranges: a document that both retrieved is graded once for both, with one best list for a query.
  Exact as well, but for AP, where the range of a difference holds all that is possible and may be
  too wide.
- CQADupStack is the mean of the means of its 12 forums, each with its own collection.
- MS MARCO is scored on its dev split. BEIR-PL's figures for it are on the test split of TREC Deep
  Learning 2019: that is another dataset here, `msmarco/test`, and never in one row with dev.
- The zero-shot average leaves out MS MARCO, and every system's in-domain cells: those are shown
  and labelled, and never the best. Systems are ranked by averages over the same datasets alone:
  those that at least half of the systems have, runs of few datasets not counted. A system that
  lacks one of them has an average over the rest, in italics, and no rank.
- Two values of a measure are equal within {TOLERANCE}: in ranks, wins, bold figures and tests.
  Lower is better for holes, higher for every other measure.
- Beside what is not significant stands the smallest true difference that the same test would have
  found, as significant and with the right sign, with a chance of 80%: by the noncentral t
  distribution, from the number of queries, the standard deviation of their differences, and the
  level. For all pairs of a dataset's systems that is the level at which maxT tests each pair;
  against a baseline it is the first of Holm's. It is never the power for the difference that was
  found: that is another way to write its p-value (Hoenig and Heisey 2001), and what the data say of
  the difference is its interval. Queries needed are for a difference that you name, of queries like
  these, with as many systems compared. The standard deviation is an estimate: from 50 queries,
  what is needed may be 30% less or 55% more (95%), from 300 14% and 18%. Where so few queries
  differ that the test could not reject if all favoured one system, nothing is said.
- A sampled task draws pairs of query and document with known chances, from all that its systems
  have in their top k and nobody judged: by priority sampling (Duffield, Lund and Thorup 2007), so
  that whoever stops has a sample, in proportion to what a pair moves and how unsure it is (Schnabel
  et al. 2016). A score is estimated by what is predicted for every pair, from the runs' ranks and
  the other pairs' grades, plus grade minus prediction over the chance for those that were drawn
  (the difference estimator: Särndal, Swensson and Wretman 1992). Official judgements, and all
  before the draw, are known. However poor the prediction, P, DCG and RBP have no bias; nDCG, R and
  AP are linearised, and their ideal is that of the pairs that these systems retrieved. Batches
  drawn one after the other are averaged by weights that no grade moves. The 95% interval is over
  all samples that could have been drawn, for these queries: its variance is that of the sample,
  averaged with what the predictions expect, by Student's t. Intervals of all pairs of systems hold
  together. It assumes a number of judgements that was not chosen by what they said. A pair that
  everybody skips widens the interval by all that it could be; it is never left out. No interval is
  given before the sample has 30 relevant documents, nDCG needs one for each query, and R and AP,
  whose intervals failed in simulations, have none until all is judged. The interval for queries
  like these is Student's over the estimates by query, which hold the sample's noise.
- How alike two collections are is weighted Jaccard over relative word frequencies: the sum of the
  smaller ones over the sum of the larger ones. A rank correlation over collections is Spearman's,
  equal values sharing their mean rank, with Bonett and Wright's 95% interval (Fisher's z, variance
  (1 + ρ²/2) / (n − 3)); none is given for fewer than 4 collections.

pytrec_eval is the oracle: every measure that it knows equals it to 1e-9, which a test holds over
generated runs with ties, duplicates, negative grades and unanswered queries.
"""

DIFFERENCES = """
- *Touche-2020* has 49.2 relevant documents per query in BEIR v1 and 19.0 in v4: the judgements
  differ. A relevance of −2 there counts as 0.
- *ArguAna* in BEIR v4: BM25's 0.315, and probably DeepCT, docT5query and BM25+CE, keep the
  query's own document in the ranking. Without it the same BM25 comes to 0.397 or 0.414.
- *BM25* is three systems: `bm25` searches title and text as one field; the papers' v4 column, BM25
  (Anserini), adds them as two and is `bm25-multifield` here; that of v1 and BEIR-PL, BM25
  (Elasticsearch), takes the better of the two and half of the other and is `bm25-elasticsearch`.
  BEIR's code leaves out queries without an answer: NFCorpus's 0.343 is the mean of 308 queries,
  that of all 323 is 0.327. v1 prints 0.297 under the same description.
- *BEIR v1's printed average* includes MS MARCO.
- *docT5query* beats BM25 on 12 of 18 datasets by v4's own table; its text says 11.
- *BEIR-PL*: its nDCG has binary gain, its R@100 of TREC-COVID is not capped; its Table 1 prints
  the 6,980 queries of MS MARCO's dev split though its figures are on test, and 547,000 documents
  for CQADupStack, which surely has 457,000.
- *Robust04, TREC-NEWS, Signal-1M, BioASQ* cannot be downloaded: their figures are the papers'.
- *Similarity to MS MARCO*: the paper's rank correlation of 0.77 leaves out three datasets that
  were chosen after seeing the results; with all 17 it is 0.55.
"""


def definitions() -> DataFrame:
    """Measure, Name and Definition of every measure, from the functions that compute them."""
    rows = [
        (name, label(name), " ".join((inspect.getdoc(parse(name).formula.values) or "").split()))
        for name in MEASURES
    ]
    return DataFrame(rows, columns=["Measure", "Name", "Definition"])


def printed_tables() -> DataFrame:
    """Paper, Tables, Figures, In-domain, Suspect: where the published figures come from."""
    figures = published.results()
    by_paper = figures.groupby("paper", sort=False)
    tables = by_paper["source"].agg(_tables)
    counts = by_paper.agg(
        Figures=("value", "size"), in_domain=("in_domain", "sum"), Suspect=("suspect", "sum")
    )
    table = pd.concat([tables.rename("Tables"), counts], axis=1).reset_index()
    return table.rename(columns={"paper": "Paper", "in_domain": "In-domain"})


def _tables(sources: pd.Series) -> str:
    numbers = {int(source.partition(", Table ")[2].partition(",")[0]) for source in sources}
    return ", ".join(map(str, sorted(numbers)))


def versions() -> DataFrame:
    """Package, Version: of what touches numbers."""
    return DataFrame(provenance.versions(), columns=["Package", "Version"])
