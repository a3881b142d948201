"""Documentation of the tables of a reading and of their columns. DuckDB stores these texts as
comments on the tables of `beirscope.duckdb` and of a snapshot."""

from collections.abc import Mapping
from typing import NamedTuple

DATASET = "dataset; the name of a further split or a part continues after a slash (nfcorpus/train)"
COLLECTION = "collection: the name of the corpus, which splits of a dataset share"
SYSTEM = "system: canonical name with all parameters that differ from the defaults"
QUERY, DOCUMENT = "id of the query within its dataset, as text", "id of the document, as text"
WORDS = "words, separated by white space; in scripts without spaces, by ICU's dictionaries"
FINGERPRINT = "SHA-256 of the inputs of the content: a different one means a different result"


USUAL = {
    "dataset": DATASET,
    "system": SYSTEM,
    "query_id": QUERY,
    "doc_id": DOCUMENT,
    "n_words": WORDS,
}
"""Meanings of columns that their tables do not describe."""


class Table(NamedTuple):
    """A table's meaning, and the meanings of its special columns by name."""

    text: str
    columns: Mapping[str, str] = USUAL

    def meaning(self, column: str) -> str:
        """Return the meaning of a column. Raises KeyError if there is none."""
        return self.columns[column] if column in self.columns else USUAL[column]


_HIT = {
    "rank": "from 1 without gaps: score as a 32-bit float descending, then doc_id descending",
    "score": "as returned by the system",
}
_TERMS = {
    "dataset": COLLECTION,
    "n": "1: single words; 2: two neighbours separated by a space",
    "term": "the word or words, in lower case",
    "count": "number of occurrences in the corpus",
}
TABLES: Mapping[str, Table] = {
    "hits": Table("The ranked lists of every run, to the stored depth.", _HIT),
    "top": Table("The hits of rank 10 and better, by query and rank.", _HIT),
    "scores": Table(
        "One value for each run, query and measure, on the official judgements. A query"
        " without a value, such as Hole@10 without hits, has no row.",
        {
            "measure": "in ir_measures' spelling, such as nDCG@10",
            "value": "of this query; 0 if a judged query is not answered",
        },
    ),
    "repeats": Table(
        "The ranked lists of a system's further runs, such as those of a rebuilt index; its first"
        " is in hits.",
        _HIT | {"run": "number of the run, from 2"},
    ),
    "run_scores": Table(
        "The scores of each run of a system with several; their means are in scores.",
        {
            "run": "number of the run, from 1",
            "measure": "in ir_measures' spelling",
            "value": "of this query, as in scores",
        },
    ),
    "means": Table(
        "The mean of every run and measure over queries; a dataset of parts has the mean of its"
        " parts' means.",
        {
            "measure": "in ir_measures' spelling",
            "value": "mean over all evaluated queries, an unanswered one as 0",
            "value_returned": "mean over only the answered queries, as in BEIR's code",
            "n_queries": "evaluated queries",
            "n_unanswered": "queries among these without a hit",
        },
    ),
    "documents": Table(
        "The corpora, in the order of their files.",
        {
            "dataset": COLLECTION,
            "title": "empty if there is none; null if texts were left out",
            "text": "null if texts were left out",
            "n_words": f"{WORDS}, of title and text",
        },
    ),
    "queries": Table(
        "The queries of the split.",
        {"text": "null if texts do not ship or were left out"},
    ),
    "query_labels": Table(
        "Query groups by labels from files: one value per key and query.",
        {
            "key": "key of the label, such as topic",
            "value": "the label, such as chemistry",
        },
    ),
    "anchor": Table(
        "The run that `gate` also compares with, for the losses of several versions together.",
        {
            "of": "the system that was marked",
            "margin": "largest tolerated loss since, in mean score",
            "fingerprint": "of its hits, which a version keeps",
        },
    ),
    "judgements": Table(
        "The official judgements of the split.",
        {"relevance": "grade; 0 and below: judged not relevant, gain 0"},
    ),
    "subtopics": Table(
        "The official judgements by subtopic, if any: `judgements` has the highest grade of"
        " each pair.",
        {
            "subtopic": "of the query, named as in the judgements",
            "relevance": "grade; above 0: the document covers the subtopic",
        },
    ),
    "machine_grades": Table(
        "Grades of LLMs, separate from all judgements: no score counts them unless they are"
        " chosen.",
        {
            "system": "the LLM: the name under which its grades were imported",
            "relevance": "grade; 0 and below: not relevant",
        },
    ),
    "carried": Table(
        "Judgements of an older version of the collection, carried over by texts, apart from all"
        " judgements: no score counts them unless they are chosen.",
        {
            "system": "the older dataset",
            "relevance": "grade there; of several old documents the highest",
            "old_doc_id": "id of the document there",
            "how": "by the same id and text, an equal or near-equal text, as a part of it or whole",
            "similarity": "share of the shorter text's character 5-grams in the other, 0 to 1",
        },
    ),
    "leakage": Table(
        "Test queries and relevant documents that a training set contains, equal or"
        " near-equal: for each the ten most similar training texts, never the texts themselves.",
        {
            "system": "the training set: the name under which it was compared",
            "of": "query or document: the kind of text that was found",
            "text_id": "id of the query or of the document",
            "file": "file of the training set, without its folder; for a split its name",
            "training_id": "id of the training text there, else its line",
            "similarity": "Jaccard similarity of the sets of character 5-grams, 0 to 1",
        },
    ),
    "translation": Table(
        "Similarity of translated texts to the originals with the same ids.",
        {
            "system": "the multilingual encoder",
            "of": "queries or documents",
            "pairs": "number of texts in the sample",
            "mean": "of the cosines of their vectors",
            "sd": "standard deviation of the cosines",
        },
    ),
    "added_judgements": Table(
        "Judgements added here by people, files and models; rows are added and never changed.",
        {
            "id": "number, in the order of saving",
            "relevance": "grade; null: this person withdraws the judgement",
            "person": "who judged",
            "task": "of the annotation task",
            "guideline_version": "of the guideline shown",
            "source": "person, adjudication, import or model; withdrawn withdraws one",
            "time": "UTC, ISO 8601",
            "entry": "the form's id of the row, so that none is saved twice; else null",
            "note": "the person's note",
            "unsure": "1 if marked as unsure",
            "verified": "1 if the person had signed in",
            "imported": "import time, UTC; null: judged here",
            "takes_back": "the entry of the row that this row withdraws; else null",
        },
    ),
    "lengths": Table(
        "The length of every document; it ships even if texts do not.",
        {"dataset": COLLECTION, "doc_id": DOCUMENT, "n_words": f"{WORDS}, of title and text"},
    ),
    "length_counts": Table(
        "Histograms of lengths: number of documents or queries of a group with this many words.",
        {
            "system": "system of the top 10; empty for values of the dataset",
            "of": "corpus, queries, judged or top",
            "level": "for judged: the relevance; for top: the rank; else 0",
            "count": "documents or queries of this length",
        },
    ),
    "efficiency": Table(
        "Costs of runs.",
        {
            "measure": "quantity with its unit, such as latency_p50_ms or index_bytes",
            "value": "as measured; the machine is in the provenance of the part",
        },
    ),
    "ngrams": Table("Word counts of corpora, by n the most frequent first.", _TERMS),
    "wordpieces": Table(
        "The same for the word pieces of BERT's uncased vocabulary.",
        {**_TERMS, "n": "1", "term": "the word piece"},
    ),
    "overlap": Table(
        "Similarities of corpora, each pair and floor once.",
        {
            "dataset": COLLECTION,
            "other": "the other corpus",
            "unit": "unigrams, bigrams or word pieces",
            "floor": "words not above this share of their corpus are left out",
            "similarity": "weighted Jaccard over relative frequencies, 0 to 1",
            "fingerprint": "of the compared counts of dataset",
            "other_fingerprint": "of the compared counts of other",
        },
    ),
    "generated": Table(
        "Queries that a model generated for documents, in the order of the corpus.",
        {
            "dataset": COLLECTION,
            "system": "the model, with its parameters",
            "number": "from 1, in the order of generation",
            "text": "the query; null if texts were left out",
        },
    ),
    "model": Table(
        "Models trained here: the files of each folder, in pieces.",
        {
            "dataset": "the dataset it was trained on",
            "system": "its name, such as genq[scifact]",
            "file": "path in the model's folder, with slashes",
            "number": "of the piece of the file, from 0",
            "content": "the bytes; empty in a snapshot, which has no weights",
        },
    ),
    "training": Table(
        "Losses of trainings.",
        {
            "dataset": "the dataset it was trained on",
            "system": "the name of the model",
            "step": "of the optimiser, from 1",
            "name": "of the loss, or of another measured value",
            "value": "mean over the steps since the previous row",
        },
    ),
    "augmented": Table(
        "Queries that a system searched instead of the given ones: by query, first its own"
        " word pieces in order, then the added ones, the heaviest first.",
        {
            "piece": "the word piece; ## marks the continuation of a word",
            "in_query": "whether the query has it",
            "weight": "factor of the piece's BM25: w (bow + a)",
        },
    ),
    "printed": Table(
        "Scores of imported tables, which `published` has, too.",
        {
            "dataset": "name of the table",
            "of": "dataset; its name in the table if we have none",
            "printed": "name of the system in the table",
            "measure": "in the spelling of ir_measures",
            "value": "as a fraction, 0 to 1",
        },
    ),
    "published": Table(
        "Every score in the papers, transcribed from their tables; and those of imported tables.",
        {
            "paper": "as cited",
            "source": "its short name and table; `Printed: NAME` for an imported table",
            "system": "our name, or the published one if we have none",
            "printed": "the published name",
            "measure": "in the spelling of ir_measures",
            "value": "as printed",
            "in_domain": "the system was trained on this dataset",
            "suspect": "contradicts other published values; shown, never used",
            "note": "a remark on the value",
        },
    ),
    "datasets": Table(
        "Every dataset of the catalogue and the user's own, with published statistics.",
        {
            "name": DATASET,
            "title": "its name in the papers",
            "collection": "the corpus; splits share it",
            "split": "of the queries and judgements",
            "language": "en, pl, or as given by its owner",
            "task": "retrieval task, in the papers' terms",
            "domain": "of the documents",
            "licence": "as stated by its authors",
            "relevance": "levels of relevance",
            "group": "BEIR, BEIR-PL, PolEval, Open-domain QA, PyDocs or own",
            "drop_self": "documents with their query's id are dropped from the ranking",
            "zero_shot": "counts in the zero-shot average",
            "parts": "datasets whose means this one averages; it has no run of its own",
            "has_split": "false: known from published figures only",
            "archive": "where it is published",
            "md5": "of the archive",
            "public": "false: its licence forbids offering the documents",
            "homepage": "of the dataset",
            "has_title": "documents have titles",
            "n_documents": "published number of documents",
            "n_queries": "published number of queries",
            "train_pairs": "published number of training pairs",
            "relevant_per_query": "published mean of relevant documents per query",
            "query_words": "published mean of words per query",
            "document_words": "published mean of words per document, title and text",
            "note": "a remark",
            "level": "the least relevance counted by binary measures with rel",
        },
    ),
    "systems": Table(
        "Every system of the catalogue, then stored ones that it lacks.",
        {
            "name": SYSTEM,
            "title": "its name in the papers",
            "family": "lexical, learned-lexical, sparse, dense, late interaction, …",
            "published_in": "the papers with scores of it",
            "checkpoint": "its weights, if any",
            "settings": "its description in the papers",
            "status": "empty if it runs here, else why not",
        },
    ),
    "parts": Table(
        "Origin of the rows of the other tables: one row per published part.",
        {
            "id": "of the part",
            "kind": "the table to which it belongs",
            "system": "empty if it belongs to no system",
            "fingerprint": FINGERPRINT,
            "path": "of the file, from the home folder; empty in a snapshot",
            "rows": "number of rows",
            "bytes": "size of the file",
            "created": "UTC, ISO 8601",
            "job": "job that published it",
            "shipped": "true if it shipped with the project",
            "provenance": "JSON: command, settings, inputs, versions, hardware, seconds, date",
        },
    ),
    "readme": Table(
        "About this file, and how to query it.",
        {
            "topic": "subject of the row",
            "text": "in words",
            "example": "SQL to try; empty if there is none",
        },
    ),
}
