"""The contract of evaluation in plain words, for the page About the numbers.

What can be derived (measures, datasets, tables) is; the rules are written out, and the modules
that keep them are named.
"""

import inspect
import re

import pandas as pd
from pandas import DataFrame

from compute.datasets import DATASETS, published
from compute.evaluate import subtopics
from compute.evaluate.measures import FORMULAS, MEASURES, label, parse
from compute.evaluate.tolerance import TOLERANCE
from compute.store import provenance


def _dropping_self() -> str:
    shown = [row for row in DATASETS.values() if row.drop_self and "/" not in row.name]
    return ", ".join(row.title for row in shown)


RULES = f"""
## How is a list ranked?

One ranking feeds every number. It is set once, when a run is stored.

**The query's own document.** Where the queries of a dataset are documents of its own collection,
the document with the id of the query leaves the ranking before anything is cut. These datasets
are {_dropping_self()}. A system searches one deeper there, so that 100 remain of 100.

BEIR's own code and Pyserini's runs drop equal ids on every dataset. Elsewhere an equal id is
chance, and here it stays.

**Order.** Hits are sorted by score, highest first; scores are compared as 32-bit numbers. Equal
scores are sorted by document id, descending by its bytes. That is trec_eval's order. The rank
column of a run file is ignored.

**Unanswered queries.** A query that a run does not answer scores 0, as `trec_eval -c` has it.
"Returned queries only" averages over the answered ones, as BEIR's code does, and is labelled so.

**Faulty lines.** A document that is twice in one list keeps its higher place, and the import
counts the others. A score that is not a number, or is infinite as a 32-bit number, refuses the
file.

## What counts as relevant?

A run is held against the judgements of the split.

A document without a judgement for the query counts as not relevant. A grade above 0 is relevant,
and gain is linear in the grade. A grade below 0 is judged, with gain 0.

A query whose judgements are all 0 counts: it has no relevant document, and scores 0 on every
measure. A query without any judgement is not evaluated.

## What is a hole?

A hole is a hit without a judgement *for that query*: a document that was judged for another query
is still a hole. BEIR's code has another definition; it is offered under its own name.

Hole@k and Judged@k of a query without hits are absent, not 0, and left out of the mean. The
number of unanswered queries stands beside them.

## What could a score be?

A score has three ranges. Each is over every way of grading documents that nobody judged for the
query, with any grade that the judgements have:

- *Own list*: the holes in the system's own top k.
- *Pool*: those, and what else the stored runs retrieved for the query, each run to the depth that
  is kept.
- *Collection*: any document of the collection, retrieved or not.

All are over the queries evaluated today, and both ends of each are exact.

A relevant document outside the top k raises what a sum is divided by: for nDCG the best list, for
R_cap k at most, for R and AP the number of relevant documents. Their low ends therefore go
towards 0. P, RR and Success are divided by none of these, so their three ranges are the same.

## Could two systems change places?

This is asked of the difference of their scores, in each of the three ranges. A document that both
retrieved is graded once for both, with one best list for a query.

The answer is exact but for AP: there the range of a difference holds all that is possible, and
may be too wide.

## What is averaged?

CQADupStack is the mean of the means of its 12 forums, each with its own collection.

MS MARCO is scored on its dev split. BEIR-PL's figures for it are on the test split of TREC Deep
Learning 2019: that is another dataset here, `msmarco/test`, and never in one row with dev.

The zero-shot average leaves out MS MARCO and every system's in-domain cells. Those are shown and
labelled, and are never the best.

## How are systems ranked?

By averages over the same datasets alone: those that at least half of the systems have. Runs of
few datasets are not counted for this. A system that lacks one of these datasets has an average
over the rest, in italics, and no rank.

Two values of a measure are equal within {TOLERANCE}: in ranks, wins, bold figures and tests.
Lower is better for holes, higher for every other measure.

## How small a difference would have been found?

Beside what is not significant stands the smallest true difference that the same test would have
found, as significant and with the right sign, with a chance of 80%.

It follows from the noncentral t distribution, the number of queries, the standard deviation of
their differences, and the level. For all pairs of a dataset's systems the level is the one at
which maxT tests each pair; against a baseline it is the first of Holm's.

It is never the power for the difference that was found: that is another way to write its p-value
(Hoenig and Heisey 2001). What the data say of the difference is its interval.

Where so few queries differ that the test could not reject if all favoured one system, nothing is
said.

## How many queries would be needed?

This is for a difference that you name, on queries like these, with as many systems compared.

It rests on the standard deviation, which is an estimate. From 50 queries, what is needed may be
30% less or 55% more (95%); from 300 queries, 14% less or 18% more.

## How does a sampled task estimate a score?

**What is drawn.** Pairs of query and document are drawn with known chances, from all that its
systems have in their top k and nobody judged. Priority sampling (Duffield, Lund and Thorup 2007)
leaves a sample to whoever stops. Chances are in proportion to what a pair moves and how unsure it
is (Schnabel et al. 2016).

**The estimate.** A score is what is predicted for every pair, from the runs' ranks and the other
pairs' grades; plus, for those that were drawn, grade minus prediction over the chance. This is
the difference estimator (Särndal, Swensson and Wretman 1992). Official judgements, and all before
the draw, are known.

**Bias.** However poor the prediction, P, DCG and RBP have no bias. nDCG, R and AP are linearised,
and their ideal is that of the pairs that these systems retrieved.

Batches that are drawn one after the other are averaged by weights that no grade moves.

**The interval.** The 95% interval is over all samples that could have been drawn, for these
queries. Its variance is that of the sample, averaged with what the predictions expect; the fewer
pairs carry a mean or a difference, the more these count. Where relevant documents are rare, errors
are skewed: the interval then reaches farther up than down (Hall 1992). Intervals of all pairs of
systems hold together.

**What it assumes.** The number of judgements was not chosen by what they said. A pair that
everybody skips widens the interval by all that it could be; it is never left out. No interval is
given before the sample has 30 relevant and 30 not relevant documents. nDCG needs a relevant
document for each query. R and AP, whose intervals failed in simulations, have none until all is
judged.

**Queries like these.** That interval is Student's over the estimates by query, which hold the
sample's noise.

**Machines.** Where somebody asks for it, the prediction knows what a machine graded, too, weighed
by how well it agrees with people's other judgements. People's sample corrects it all the same.

## How alike are two collections?

Their similarity is weighted Jaccard over relative word frequencies: the sum of the smaller ones
over the sum of the larger ones.

A rank correlation over collections is Spearman's; equal values share their mean rank. Its 95%
interval is Bonett and Wright's (Fisher's z, variance (1 + ρ²/2) / (n − 3)). None is given for
fewer than 4 collections.

## What does a training set hold?

A test query, or a document relevant to one, is found in a training set where one of its texts is
equal or nearly so: the sets of character 5-grams of their words, in lower case with one blank
between, have a Jaccard similarity of at least the threshold, 0.7 unless another was said.
Candidates come from MinHash and are then compared exactly. At 0.7 passages with one word in ten
replaced are found, those with half replaced are not; neither are paraphrases. The 95% interval
of a change without those queries is the percentile bootstrap's, with the same queries
drawn for all systems.

## How is all this checked?

Every measure that pytrec_eval knows is compared with pytrec_eval's value, and may differ from it by
1e-9 at most. A test does that over generated runs with ties, duplicates, negative grades and
unanswered queries.
"""

DIFFERENCES = """
- *Touche-2020* has 49.2 relevant documents per query in BEIR v1 and 19.0 in v4: the judgements
  differ. A relevance of −2 there counts as 0.
- *ArguAna* in BEIR v4: BM25's 0.315, and probably DeepCT, docT5query and BM25+CE, keep the
  query's own document in the ranking. Without it the same BM25 comes to 0.397 or 0.414.
- *BM25* is three systems in the papers. `bm25` searches title and text as one field. The v4 column,
  BM25 (Anserini), adds them as two: `bm25-multifield` here. That of v1 and BEIR-PL, BM25
  (Elasticsearch), takes the better of the two and half of the other: `bm25-elasticsearch`. Here
  are two more: `bm25-wordpiece` splits words as BERT does, `bm25-rm3` adds words of the first hits.
- *NFCorpus*: BEIR's code leaves out queries without an answer. Its 0.343 is the mean of 308
  queries; that of all 323 is 0.327. v1 prints 0.297 under the same description.
- *BEIR v1's printed average* includes MS MARCO.
- *docT5query* beats BM25 on 12 of 18 datasets by v4's own table; its text says 11.
- *BEIR-PL*: its nDCG has binary gain (`nDCG(rel=1)@10` here), its R@100 of TREC-COVID is not
  capped; its Table 1 prints the 6,980 queries of MS MARCO's dev split though its figures are on
  test, and 547,000 documents for CQADupStack, which surely has 457,000.
- *Robust04, TREC-NEWS, Signal-1M, BioASQ* cannot be downloaded: their figures are the papers'.
- *Similarity to MS MARCO*: the paper's rank correlation of 0.77 leaves out three datasets that
  were chosen after seeing the results; with all 17 it is 0.55.
"""


PLACES = {
    "Measures": "measures",
    "Published figures": "published",
    "Known differences": "differences",
    "What is stored here": "stored",
    "Versions": "versions",
}
"""The headings below the rules, and their places on the page."""


def contents() -> str:
    """Links to every heading of the page, as Markdown."""
    places = {title: place(title) for title in re.findall(r"^## (.+)$", RULES, re.MULTILINE)}
    return " · ".join(f"[{title}](#{to})" for title, to in (places | PLACES).items())


def place(title: str) -> str:
    """The place of a heading of the rules: its words with hyphens, as Streamlit has it."""
    return re.sub(r"[^a-z]+", "-", title.lower()).strip("-")


def definitions() -> DataFrame:
    """Measure, Name and Definition of every measure, from the functions that compute them."""
    listed = (*MEASURES, *subtopics.MEASURES[1:])
    shown = {parse(name).formula.name for name in listed}
    others = [row.written("@10") for name, row in FORMULAS.items() if name not in shown]
    rows = [
        (name, label(name), " ".join((inspect.getdoc(parse(name).formula.values) or "").split()))
        for name in (*listed, *others)
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
