"""Documentation of the tables of a reading and of their columns. DuckDB stores these texts as
comments on the tables of `beirscope.duckdb` and of a snapshot."""

from collections.abc import Mapping
from typing import NamedTuple

DATASET = "dataset; a slash separates the name of a further split or of a part (nfcorpus/train)"
COLLECTION = "collection: the name of the corpus, which splits of a dataset share"
SYSTEM = "system: canonical name with all parameters that differ from the defaults"
QUERY, DOCUMENT = "id of the query within its dataset, as text", "id of the document, as text"
WORDS = "words, separated by white space; in scripts without spaces, by ICU's dictionaries"
FINGERPRINT = "SHA-256 of all inputs of the content: if it differs, the result may differ"


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
    "rank": "from 1 without gaps: by descending score (a 32-bit float), then by descending doc_id",
    "score": "as returned by the system",
}
_TERMS = {
    "dataset": COLLECTION,
    "n": "1: single words; 2: two neighbours separated by a space",
    "term": "the word or words, in lower case",
    "count": "number of occurrences in the corpus",
}
TABLES: Mapping[str, Table] = {
    "hits": Table("The ranked lists of every run, down to the stored depth.", _HIT),
    "top": Table("The hits at ranks 1 to 10, sorted by query and rank.", _HIT),
    "scores": Table(
        "One value for each run, query and measure, by the official judgements. A query"
        " without a value, such as Hole@10 without hits, has no row.",
        {
            "measure": "in ir_measures' spelling, such as nDCG@10",
            "value": "value of this query; 0 if a judged query is not answered",
        },
    ),
    "repeats": Table(
        "The ranked lists of a system's further runs, such as with rebuilt indexes; its first run"
        " is in hits.",
        _HIT | {"run": "number of the run, from 2"},
    ),
    "run_scores": Table(
        "The scores of each run of a system with several runs; their means are in scores.",
        {
            "run": "number of the run, from 1",
            "measure": "in ir_measures' spelling",
            "value": "value of this query, as in scores",
        },
    ),
    "means": Table(
        "The mean of each measure over the queries of each run; a dataset with parts has the mean"
        " of its parts' means.",
        {
            "measure": "in ir_measures' spelling",
            "value": "mean over all evaluated queries; an unanswered query counts as 0",
            "value_returned": "mean over the answered queries only, as in BEIR's code",
            "n_queries": "evaluated queries",
            "n_unanswered": "evaluated queries without a hit",
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
        {"text": "null if texts are not shipped or were left out"},
    ),
    "narratives": Table(
        "The descriptions and narratives of queries, as in TREC topics.",
        {"text": "paragraphs, separated by blank lines; null if texts were left out"},
    ),
    "query_labels": Table(
        "Labels of queries from files, which form query groups: one value per key and query.",
        {
            "key": "key of the label, such as topic",
            "value": "the label, such as chemistry",
        },
    ),
    "anchor": Table(
        "The run with which `gate` also compares, to test the losses of several versions together.",
        {
            "of": "the system marked as the anchor",
            "margin": "largest tolerated loss of mean score since the anchor",
            "fingerprint": "fingerprint of its hits, which stays the same in a version",
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
            "subtopic": "subtopic of the query, named as in the judgements",
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
        "Judgements carried over from an older version of the collection by matching texts; no"
        " score counts them unless they are chosen.",
        {
            "system": "the older dataset",
            "relevance": "grade in the older dataset; the highest if several old documents match",
            "old_doc_id": "id of the document in the older dataset",
            "how": "matched by id and text, by equal or near-equal text, as a part or as a whole",
            "similarity": "share of the shorter text's character 5-grams in the other, 0 to 1",
        },
    ),
    "leakage": Table(
        "Test queries and relevant documents that occur in a training set, equal or near-equal:"
        " ids of the ten most similar training texts for each, never the texts themselves.",
        {
            "system": "the training set: the name under which it was compared",
            "of": "query or document: the kind of text that was found",
            "text_id": "id of the query or of the document",
            "file": "file of the training set, without its folder; for a split its name",
            "training_id": "id of the training text in the file, otherwise its line",
            "similarity": "Jaccard similarity of the sets of character 5-grams, 0 to 1",
        },
    ),
    "translation": Table(
        "Similarity of translated texts to the originals with the same ids.",
        {
            "system": "the multilingual encoder",
            "of": "queries or documents",
            "pairs": "number of texts in the sample",
            "mean": "mean of the cosines of their vectors",
            "sd": "standard deviation of the cosines",
        },
    ),
    "added_judgements": Table(
        "Judgements added here by people, files and models; rows are added and never changed.",
        {
            "id": "number of the row, in the order of saving",
            "relevance": "grade; null: this person withdraws the judgement",
            "person": "who judged",
            "task": "id of the judging task",
            "guideline_version": "version of the guideline that was shown",
            "source": "person, adjudication, import or model; withdrawn if it withdraws one",
            "time": "UTC, ISO 8601",
            "entry": "id that the form gave the row, so that it is saved only once; otherwise null",
            "note": "the person's note",
            "unsure": "1 if marked as unsure",
            "verified": "1 if the person had signed in",
            "imported": "import time, UTC; null: judged here",
            "takes_back": "entry of the row that this row withdraws; otherwise null",
        },
    ),
    "lengths": Table(
        "The length of every document, which is shipped even if texts are not.",
        {"dataset": COLLECTION, "doc_id": DOCUMENT, "n_words": f"{WORDS}, of title and text"},
    ),
    "length_counts": Table(
        "Histograms of lengths: the number of documents or queries with this many words.",
        {
            "system": "system of the top 10; empty for values of the dataset",
            "of": "corpus, queries, judged or top",
            "level": "the relevance for judged, the rank for top, otherwise 0",
            "count": "documents or queries of this length",
        },
    ),
    "efficiency": Table(
        "The costs of runs.",
        {
            "measure": "quantity with its unit, such as latency_p50_ms or index_bytes",
            "value": "as measured; the machine is in the provenance of the part",
        },
    ),
    "ngrams": Table("Word counts of corpora, for each n in descending order.", _TERMS),
    "wordpieces": Table(
        "Counts of the word pieces of BERT's uncased vocabulary in corpora.",
        {**_TERMS, "n": "1", "term": "the word piece"},
    ),
    "overlap": Table(
        "Similarities of corpora, once for each pair and floor.",
        {
            "dataset": COLLECTION,
            "other": "the other corpus",
            "unit": "unigrams, bigrams or word pieces",
            "floor": "words not above this share of their corpus are left out",
            "similarity": "weighted Jaccard over relative frequencies, 0 to 1",
            "fingerprint": "fingerprint of the counts of dataset that were compared",
            "other_fingerprint": "fingerprint of the counts of other that were compared",
        },
    ),
    "generated": Table(
        "Queries that a model generated for documents, in the order of the corpus.",
        {
            "dataset": COLLECTION,
            "system": "the model, with its parameters",
            "number": "number of the query, from 1, in the order of generation",
            "text": "the query; null if texts were left out",
        },
    ),
    "model": Table(
        "Models trained here: the files of each folder, in pieces.",
        {
            "dataset": "the dataset it was trained on",
            "system": "its name, such as genq[scifact]",
            "file": "path in the model's folder, with slashes",
            "number": "number of the piece within the file, from 0",
            "content": "the bytes; empty in a snapshot, which has no weights",
        },
    ),
    "training": Table(
        "The losses of each training.",
        {
            "dataset": "the dataset it was trained on",
            "system": "the name of the model",
            "step": "step of the optimiser, from 1",
            "name": "name of the loss or of another measured value",
            "value": "mean over the steps since the previous row",
        },
    ),
    "augmented": Table(
        "The queries that a system searched instead of the given ones: for each, first its own"
        " word pieces in order, then the added ones in order of descending weight.",
        {
            "piece": "the word piece; ## marks the continuation of a word",
            "in_query": "whether the given query contains it",
            "weight": "factor of the BM25 score of the piece: w (bow + a)",
        },
    ),
    "printed": Table(
        "Scores of imported tables, which `published` also contains.",
        {
            "dataset": "name of the table",
            "of": "dataset; its name in the table if the catalogue has none",
            "printed": "name of the system in the table",
            "measure": "in the spelling of ir_measures",
            "value": "as a fraction, 0 to 1",
        },
    ),
    "published": Table(
        "Every score in the papers, transcribed from their tables, and those of imported tables.",
        {
            "paper": "as cited",
            "source": "short name of paper and table; `Printed: NAME` for an imported table",
            "system": "name in the catalogue, or the published name if it has none",
            "printed": "the published name",
            "measure": "in the spelling of ir_measures",
            "value": "as printed",
            "in_domain": "the system was trained on this dataset",
            "suspect": "contradicts other published values; shown but never used",
            "note": "a remark on the value",
        },
    ),
    "datasets": Table(
        "Every dataset of the catalogue and the user's own, with published statistics.",
        {
            "name": DATASET,
            "title": "its name in the papers",
            "collection": "the corpus; splits share it",
            "split": "split of the queries and judgements",
            "language": "en, pl, or as given by its owner",
            "task": "retrieval task, in the papers' terms",
            "domain": "domain of the documents",
            "licence": "as stated by its authors",
            "relevance": "levels of relevance",
            "group": "BEIR, BEIR-PL, PolEval, Open-domain QA, PyDocs or own",
            "drop_self": "documents with their query's id are dropped from the ranking",
            "zero_shot": "counts in the zero-shot average",
            "parts": "datasets whose means this one averages; it has no run of its own",
            "has_split": "false: only published figures are known",
            "archive": "where it is published",
            "md5": "md5 of the archive",
            "public": "false: its licence forbids offering the documents",
            "homepage": "homepage of the dataset",
            "has_title": "documents have titles",
            "n_documents": "published number of documents",
            "n_queries": "published number of queries",
            "train_pairs": "published number of training pairs",
            "relevant_per_query": "published mean of relevant documents per query",
            "query_words": "published mean of words per query",
            "document_words": "published mean of words per document, title and text",
            "note": "a remark",
            "level": "the lowest relevant grade of binary measures with rel",
        },
    ),
    "systems": Table(
        "Every system of the catalogue, then the stored systems that it lacks.",
        {
            "name": SYSTEM,
            "title": "its name in the papers",
            "family": "lexical, learned-lexical, sparse, dense, late interaction, …",
            "published_in": "the papers with scores of it",
            "checkpoint": "its weights, if any",
            "settings": "its description in the papers",
            "status": "empty if it runs here, otherwise the reason why not",
        },
    ),
    "parts": Table(
        "Origin of the rows of the other tables: one row per published part.",
        {
            "id": "id of the part",
            "kind": "the table to which it belongs",
            "system": "empty if it belongs to no system",
            "fingerprint": FINGERPRINT,
            "path": "path of the file within the home folder; empty in a snapshot",
            "rows": "number of rows",
            "bytes": "size of the file",
            "created": "UTC, ISO 8601",
            "job": "id of the job that published it",
            "shipped": "true if it shipped with the project",
            "provenance": "JSON: command, settings, inputs, versions, hardware, seconds, date",
        },
    ),
    "readme": Table(
        "Notes on this file, and how to query it.",
        {
            "topic": "subject of the row",
            "text": "the note",
            "example": "SQL to try; empty if there is none",
        },
    ),
}
