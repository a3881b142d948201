"""All datasets with the papers' statistics and descriptions: a table, and texts per dataset."""

from collections.abc import Iterator, Mapping

from compute.datasets import Dataset, published
from compute.datasets.catalogue import DATASETS, counterpart
from compute.views.dataset import select
from compute.views.dataset.tables import number
from compute.views.page import Ask, Column, Link, Note, Passage, Step, Table, Text

POINTER = "For an example see BEIR v4, appendix, Table 8."
_MADE, _TASK, _BIAS = "How it was built", "Task", "Annotation bias"


COLUMNS = (
    Column("Dataset", "title", pinned=True),
    Column("Of", "group"),
    Column(_TASK, "task"),
    Column("Domain", "domain"),
    Column("Titles", "titles"),
    Column("Relevance", "relevance"),
    Column("Training pairs", "train_pairs", number),
    Column("Dev queries", "dev_queries", number),
    Column("Test queries", "n_queries", number),
    Column("Documents", "n_documents", number),
    Column("Relevant per query", "relevant_per_query"),
    Column("Words per query", "query_words"),
    Column("Words per document", "document_words"),
    Column("Licence", "licence"),
    Column(_MADE, "built", width=400),
    Column(_BIAS, "bias", width=400),
)


def said(dataset: Dataset) -> dict[str, str]:
    """Return the papers' descriptions of a dataset: built, task, bias, query, document, corpus
    (empty if not given). A Polish dataset also has the task and the bias of the English one."""
    told = published.descriptions()
    english = DATASETS.get(counterpart(dataset.name) if dataset.language == "pl" else "")
    names = [dataset.name, dataset.name.partition("/")[0], dataset.group]
    own = next((told[name] for name in names if name in told), dict.fromkeys(published.SAID, ""))
    if english is None:
        return dict(own)
    behind = said(english)
    bias = " ".join(filter(None, [own["bias"], behind["bias"]]))
    without = dict.fromkeys(("query", "document", "corpus"), "")
    return behind | without | {"built": own["built"], "bias": bias}


def words(dataset: Dataset) -> Iterator[Step]:
    """Yield sentences on a dataset's construction, task, bias and corpus."""
    found = said(dataset)
    heads = {"built": _MADE, "task": _TASK, "bias": _BIAS, "corpus": "Corpus"}
    for name, head in heads.items():
        if found[name]:
            yield Text(f"{head}: {found[name]}")


def example(dataset: Dataset) -> Iterator[Step]:
    """Yield the papers' example if its licence allows quoting it, else a reference to it."""
    found: Mapping[str, str] = said(dataset)
    if dataset.group != "BEIR":
        return
    if not found["query"]:
        yield Note([POINTER])
        return
    yield Passage(found["query"], f"Relevant: {found['document']}")
    yield Note([f"The papers' example (BEIR v4, appendix, Table 8); licence: {dataset.licence}."])


def section(ask: Ask) -> Iterator[Step]:
    """Yield a table of all datasets, and one of the query counts in the augmentation paper."""
    rows = ask(select.printed_statistics)
    told = [said(DATASETS[name]) for name in rows["dataset"]]
    rows = rows.assign(**{name: [one[name] for one in told] for name in ("built", "bias")})
    rows["titles"] = rows["has_title"].map({True: "yes", False: "no"}).fillna("–")
    carried = [[name] for name in rows["dataset"]]
    look = {"opens": Link("dataset", {"show": "Overview"}, ("dataset",)), "carried": carried}
    title = "Datasets with the papers' statistics"
    yield Table("all-datasets", title, rows, COLUMNS, **look)
    yield Note(
        [
            "As published: BEIR v1, Table 1 (Robust04: v4); BEIR-PL, Table 1.",
            "Click a column header to sort, or a row to open the dataset.",
            "BEIR-PL prints rounded sizes, and 547K documents for CQADupStack-PL, where BEIR has"
            " 457,199.",
            "Bias: as stated in the papers, or inferred from how the judgements were made.",
            "–: not reported.",
        ]
    )
    counts = published.query_counts().assign(
        title=lambda table: [DATASETS[name].title for name in table["dataset"]]
    )
    heads = {"train_queries": "Train", "dev_queries": "Dev", "test_queries": "Test"}
    columns = [Column("Dataset", "title"), *(Column(h, n, number) for n, h in heads.items())]
    title = "Queries per dataset (BM25 Query Augmentation, Table 4)"
    yield Table("query-counts", title, counts, columns, width=520)
    yield Note([f"{title}: MS MARCO is scored on its dev split."])
