"""Documentation of the tables of a reading and of their columns.

DuckDB keeps these texts beside the tables of `beirscope.duckdb` and of a snapshot, as comments.
"""

from collections.abc import Mapping
from typing import NamedTuple

DATASET = "dataset; of a further split or a part its name goes on after a slash (nfcorpus/train)"
COLLECTION = "collection: the name of the corpus, which splits of a dataset share"
SYSTEM = "system: canonical name with all parameters that differ from the defaults"
QUERY, DOCUMENT = "id of the query within its dataset, as text", "id of the document, as text"
WORDS = "words: pieces between white space; of scripts without blanks, those of ICU's dictionaries"
FINGERPRINT = "SHA-256 of what the content follows from: another one is another result"


USUAL = {
    "dataset": DATASET,
    "system": SYSTEM,
    "query_id": QUERY,
    "doc_id": DOCUMENT,
    "n_words": WORDS,
}
"""What columns mean where their table says nothing of them."""


class Table(NamedTuple):
    """A table's meaning, and those of its columns that are not the usual ones, by name."""

    text: str
    columns: Mapping[str, str] = USUAL

    def meaning(self, column: str) -> str:
        """Of a column. Raises KeyError where nobody says it."""
        return self.columns[column] if column in self.columns else USUAL[column]


_HIT = {
    "rank": "from 1 without gaps: score as a 32-bit float descending, then doc_id descending",
    "score": "as the system gave it",
}
_TERMS = {
    "dataset": COLLECTION,
    "n": "1: single words; 2: two neighbours with a blank between",
    "term": "the word or words, in lower case",
    "count": "how often it occurs in the corpus",
}
TABLES: Mapping[str, Table] = {
    "hits": Table("The ranked lists of every run, to the depth that is kept.", _HIT),
    "top": Table("The hits of rank 10 and better, by query and rank.", _HIT),
    "scores": Table(
        "One value for each run, query and measure, on the official judgements. A query without a"
        " value, such as Hole@10 where nothing was retrieved, has no row.",
        {
            "measure": "as ir_measures writes it, such as nDCG@10",
            "value": "of this query; 0 where a judged query is not answered",
        },
    ),
    "means": Table(
        "The mean of every run and measure over queries; a dataset of parts has the mean of its"
        " parts' means.",
        {
            "measure": "as ir_measures writes it",
            "value": "mean over all evaluated queries, an unanswered one as 0",
            "value_returned": "mean over only the answered queries, as BEIR's code has it",
            "n_queries": "evaluated queries",
            "n_unanswered": "of these, queries without a hit",
        },
    ),
    "documents": Table(
        "The corpora, in the order of their files.",
        {
            "dataset": COLLECTION,
            "title": "empty where there is none; null where texts were left out",
            "text": "null where texts were left out",
            "n_words": f"{WORDS}, of title and text",
        },
    ),
    "queries": Table(
        "The queries of the split.",
        {"text": "null where texts do not ship or were left out"},
    ),
    "query_labels": Table(
        "Query groups by labels from files: one value of each key for a query.",
        {
            "key": "what the label is of, such as topic",
            "value": "the label, such as chemistry",
        },
    ),
    "judgements": Table(
        "The official judgements of the split.",
        {"relevance": "grade; 0 and below: judged not relevant, gain 0"},
    ),
    "subtopics": Table(
        "The official judgements by subtopic, where they are: `judgements` has the highest grade of"
        " each pair.",
        {
            "subtopic": "of the query, as the judgements name it",
            "relevance": "grade; above 0: the document covers the subtopic",
        },
    ),
    "machine_grades": Table(
        "What machines graded, apart from all judgements: no score counts it unless it is chosen.",
        {
            "system": "the LLM: the name under which its grades were imported",
            "relevance": "grade; 0 and below: not relevant",
        },
    ),
    "leakage": Table(
        "Test queries and relevant documents that a training set holds, equal or nearly so: of each"
        " the ten training texts that are most like it, never the texts themselves.",
        {
            "system": "the training set: the name under which it was compared",
            "of": "query or document: what of the dataset was found",
            "text_id": "id of the query or of the document",
            "file": "of the training set, without its folder; of a split its name",
            "training_id": "id of the training text there, else its line",
            "similarity": "Jaccard similarity of the sets of character 5-grams, 0 to 1",
        },
    ),
    "translation": Table(
        "Similarity of translated texts to the originals with the same ids.",
        {
            "system": "the multilingual encoder",
            "of": "queries or documents",
            "pairs": "texts that were drawn",
            "mean": "of the cosines of their vectors",
            "sd": "standard deviation of the cosines",
        },
    ),
    "added_judgements": Table(
        "What people, files and models judged here; rows are added and never changed.",
        {
            "id": "number, in the order in which they were saved",
            "relevance": "grade; null: this person takes the judgement back",
            "person": "who judged",
            "task": "of which annotation task",
            "guideline_version": "of the guideline that was shown",
            "source": "person, adjudication, import or model; withdrawn withdraws one",
            "time": "UTC, ISO 8601",
            "entry": "the form's own name of the row, so that none is saved twice; else null",
            "note": "what the person wrote beside it",
            "unsure": "1 where the person said so",
            "verified": "1 where the person had signed in",
            "imported": "when a file brought it, UTC; null: judged here",
            "takes_back": "the entry of the row that this row withdraws; else null",
        },
    ),
    "lengths": Table(
        "The length of every document; it ships where texts do not.",
        {"dataset": COLLECTION, "doc_id": DOCUMENT, "n_words": f"{WORDS}, of title and text"},
    ),
    "length_counts": Table(
        "Histograms of lengths: how many documents or queries of a group have so many words.",
        {
            "system": "system of the top 10; empty for values of the dataset",
            "of": "corpus, queries, judged or top",
            "level": "of judged: the relevance; of top: the rank; else 0",
            "count": "documents or queries of this length",
        },
    ),
    "efficiency": Table(
        "What runs cost.",
        {
            "measure": "quantity with its unit, such as latency_p50_ms or index_bytes",
            "value": "as measured; the machine stands in the provenance of the part",
        },
    ),
    "ngrams": Table("Word counts of corpora, by n the most frequent first.", _TERMS),
    "wordpieces": Table(
        "The same of the word pieces of BERT's uncased vocabulary.",
        {**_TERMS, "n": "1", "term": "the word piece"},
    ),
    "overlap": Table(
        "Similarities of corpora, each pair and floor once.",
        {
            "dataset": COLLECTION,
            "other": "the other collection",
            "unit": "unigrams, bigrams or word pieces",
            "floor": "words not above this share of their corpus are left out",
            "similarity": "weighted Jaccard over relative frequencies, 0 to 1",
            "fingerprint": "of the counts of dataset that were compared",
            "other_fingerprint": "of the counts of other that were compared",
        },
    ),
    "generated": Table(
        "Queries that a model made up for documents, in the order of the corpus.",
        {
            "dataset": COLLECTION,
            "system": "the model, with its parameters",
            "number": "from 1, in the order in which they were drawn",
            "text": "the query; null where texts were left out",
        },
    ),
    "model": Table(
        "Models that were trained here: the files of each folder, in pieces.",
        {
            "dataset": "what it was trained on",
            "system": "its name, such as genq[scifact]",
            "file": "from the model's folder, parted by slashes",
            "number": "of the piece of the file, from 0",
            "content": "the bytes; empty in a snapshot, which has no weights",
        },
    ),
    "training": Table(
        "How training went.",
        {
            "dataset": "what it was trained on",
            "system": "the name of the model",
            "step": "of the optimiser, from 1",
            "name": "of the loss, or of what else was measured",
            "value": "mean over the steps since the row before",
        },
    ),
    "augmented": Table(
        "Queries that a system asked in place of those it was given: by query, first its own word"
        " pieces in their order, then those added, the heaviest first.",
        {
            "piece": "the word piece; ## begins one that goes on with a word",
            "in_query": "whether the query has it",
            "weight": "what BM25 of the piece is multiplied by: w (bow + a)",
        },
    ),
    "published": Table(
        "Every score that the papers print, typed from their tables.",
        {
            "paper": "as cited",
            "source": "its short name and table",
            "system": "our name; a printed one that we have none for stays",
            "printed": "the name in print",
            "measure": "in the spelling of ir_measures",
            "value": "as printed",
            "in_domain": "the system was trained on this dataset",
            "suspect": "contradicts its neighbours in print; shown, never used",
            "note": "a remark on the value",
        },
    ),
    "datasets": Table(
        "Every dataset of the catalogue and the user's own, with what papers print about it.",
        {
            "name": DATASET,
            "title": "its name in the papers",
            "collection": "the corpus; splits share it",
            "split": "whose queries and judgements these are",
            "language": "en, pl, or as its owner says",
            "task": "of retrieval, in the papers' words",
            "domain": "of the documents",
            "licence": "as its authors state it",
            "relevance": "levels of relevance",
            "group": "BEIR, BEIR-PL, PolEval, Open-domain QA, PyDocs or own",
            "drop_self": "a document with its query's id leaves the ranking",
            "zero_shot": "counts in the zero-shot average",
            "parts": "datasets whose means this one averages; it has no run of its own",
            "has_split": "false: known from published figures only",
            "archive": "where it is published",
            "md5": "of the archive",
            "public": "false: its licence forbids offering the documents",
            "homepage": "of the dataset",
            "has_title": "documents have titles",
            "n_documents": "printed number of documents",
            "n_queries": "printed number of queries",
            "train_pairs": "printed number of training pairs",
            "relevant_per_query": "printed mean of relevant documents per query",
            "query_words": "printed mean of words per query",
            "document_words": "printed mean of words per document, title and text",
            "note": "a remark",
            "level": "the least relevance that binary measures named with rel count from",
        },
    ),
    "systems": Table(
        "Every system of the catalogue, then the stored ones that it lacks.",
        {
            "name": SYSTEM,
            "title": "its name in the papers",
            "family": "lexical, learned-lexical, sparse, dense, late interaction, …",
            "published_in": "the papers that print scores of it",
            "checkpoint": "its weights, where it has any",
            "settings": "what the papers say of it",
            "status": "empty if it runs here, else why not",
        },
    ),
    "parts": Table(
        "Where the rows of the other tables come from: one row for each published piece.",
        {
            "id": "of the piece",
            "kind": "the table that it is a piece of",
            "system": "empty where it belongs to no system",
            "fingerprint": FINGERPRINT,
            "path": "of the file, from the home folder; empty in a snapshot",
            "rows": "how many it has",
            "bytes": "size of the file",
            "created": "UTC, ISO 8601",
            "job": "that published it",
            "shipped": "it came with the project",
            "provenance": "JSON: command, settings, inputs, versions, hardware, seconds, date",
        },
    ),
    "readme": Table(
        "What this file is and how to ask it.",
        {
            "topic": "what the row is about",
            "text": "in words",
            "example": "SQL to try; empty where there is none",
        },
    ),
}
