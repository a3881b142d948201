"""Checks of collections in the BEIR layout: every collection and split of a folder or archive."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from pandas import DataFrame

from compute.base.errors import WrongInput
from compute.datasets import layout
from compute.datasets.fingerprints import CorpusCount
from compute.datasets.reading import BeirSource
from compute.datasets.records import Trouble, n_words
from compute.intake.doctor import lines
from compute.intake.doctor.judged_hits import Twins
from compute.intake.doctor.report import Tally, Where

_TITLE_ONLY = ("document with a title only", "kept")
_EMPTY = ("empty document", "kept, as empty")
_APART = "ids are text: they stay distinct"
NO_QRELS = "no qrels"
_UNREADABLE = "judgements not readable"
_LATER = "imported without judgements, which can be added later"
_ASIDE = "this split cannot be imported until this is fixed; test can"


def examine(files: layout.Files, counts: dict[str, float], tally: Tally) -> None:
    """Count the content of each collection and split, and report its faults. Raises WrongInput if
    there is no collection."""
    roots = files.roots()
    if not roots:
        raise WrongInput(f"{files.path} contains no {layout.CORPUS}: it is not in the BEIR layout")
    if len(roots) > 1 and "" not in roots:
        where, treatment = Where(str(files.path)), "import each one from its own folder"
        tally.remark("several collections", ", ".join(roots), where, treatment)
    for root in roots:
        _Collection(files, root, f"{root}: " if len(roots) > 1 else "", counts, tally).examine()


@dataclass
class _Collection:
    """Checks one collection: its queries, then the judgements of every split, then its corpus."""

    files: layout.Files
    root: str
    prefix: str
    counts: dict[str, float]
    tally: Tally
    query_ids: set[str] = field(default_factory=set)
    judged: dict[str, DataFrame] = field(default_factory=dict)
    """Judgements of each split."""
    aside: str = ""
    """How an import that does not name the split being read treats its faults; empty if such an
    import needs the split."""

    def examine(self) -> None:
        """Examine every file of the collection; an unreadable file does not stop the others."""
        splits = self._splits()
        sources = [BeirSource(self.files, self.root, split, self._told) for split in splits]
        source = sources[0] if sources else BeirSource(self.files, self.root, "test", self._told)
        with self.tally.step("queries not readable", self.files.where(source.query_file)):
            lines.remark(self.files, source.query_file, self.tally)
            self._queries(source)
        for split in sources:
            self.aside = _ASIDE if "test" in splits and split.split != "test" else ""
            with self.tally.step(_UNREADABLE, self.files.where(split.qrels), self.aside):
                lines.remark(self.files, split.qrels, self.tally)
                self._judgements(split)
        self.aside = ""
        with self.tally.step("corpus not readable", self.files.where(source.corpus)):
            lines.remark(self.files, source.corpus, self.tally)
            self._corpus(source)

    def _told(self, trouble: Trouble) -> None:
        """Report a fault, which blocks an import unless its split can be left out."""
        where = Where(trouble.file, trouble.line)
        if self.aside:
            self.tally.remark(trouble.kind, trouble.fault, where, self.aside)
        else:
            self.tally.refuse(trouble.kind, trouble.fault, where, trouble.remedy)

    def _splits(self) -> list[str]:
        """Return the names of the splits, and report if test is missing or there are none."""
        splits, where = self.files.splits(self.root), Where(self.files.where(self.root))
        if not splits:
            self.tally.remark(NO_QRELS, "no qrels/<split>.tsv in it", where, _LATER)
        elif len(splits) > 1 and "test" not in splits:
            options = " or ".join(f"--split {split}" for split in splits)
            self.tally.remark(
                "no split test", ", ".join(splits), where, f"import it with {options}"
            )
        return splits

    def _queries(self, source: BeirSource) -> None:
        """Count the queries and their words, and report empty ones."""
        queries = source.all_queries()
        words = queries["text"].map(n_words)
        self.query_ids = set(queries["query_id"])
        self._one_number("query", self.query_ids, self.query_ids, source.query_file)
        self.counts[f"{self.prefix}queries"] = len(queries)
        if len(queries):
            self.counts[f"{self.prefix}words per query"] = round(float(words.mean()), 2)
        empty = queries.loc[words == 0, "query_id"]
        if len(empty):
            where = Where(self.files.where(source.query_file))
            example = f"query {empty.iloc[0]!r} has no text"
            self.tally.remark("empty query", example, where, "kept, retrieves nothing", len(empty))

    def _judgements(self, source: BeirSource) -> None:
        """Count a split's judgements, and report repeated ones and hopeless queries."""
        judgements = source.judgements()
        where = Where(self.files.where(source.qrels))
        name = f"{self.prefix}{source.split}"
        self.counts[f"{name} queries"] = judgements["query_id"].nunique()
        self.counts[f"{name} judgements"] = len(judgements)
        self.counts |= _levels(judgements, f"{name} relevance")
        self.tally.remark("no judgement", "none in it", where, _LATER, int(judgements.empty))
        if again := source.repeated_judgements():
            place = Where(where.file, again[0])
            what, treatment = "pair judged again with the same grade", "counted once"
            self.tally.remark(what, "an earlier line also judges it", place, treatment, len(again))
        hopeless = judgements.groupby("query_id")["relevance"].max().le(0)
        if hopeless.any():
            example = f"query {hopeless.index[hopeless][0]!r}"
            what, treatment = "query without relevant document", "scores 0 on every measure"
            self.tally.remark(what, example, where, treatment, int(hopeless.sum()))
        self.judged[source.split] = judgements

    def _corpus(self, source: BeirSource) -> None:
        """Count the documents, and report on their texts and ids."""
        corpus = CorpusCount(set().union(*(rows["doc_id"] for rows in self.judged.values())))
        where = Where(self.files.where(source.corpus))
        words, selves, first = 0, 0, ""
        zeros: set[str] = set()
        twins = Twins()
        for document in corpus.watch(source.documents()):
            twins.see(document.doc_id)
            words += n_words(document.title, document.text)
            if not document.text.strip():
                what, treatment = _TITLE_ONLY if document.title.strip() else _EMPTY
                self.tally.remark(what, f"document {document.doc_id!r}", where, treatment)
            if document.doc_id.startswith("0") and document.doc_id.isdecimal():
                zeros.add(document.doc_id)
            if document.doc_id in self.query_ids:
                selves, first = selves + 1, first or document.doc_id
        self.counts[f"{self.prefix}documents"] = corpus.n_documents
        if corpus.n_documents:
            self.counts[f"{self.prefix}words per document"] = round(words / corpus.n_documents, 2)
        self.tally.remark(
            "document named like a query",
            f"document {first!r}",
            where,
            "kept in that query's ranking, unless imported with --drop-self",
            selves,
        )
        self._alike(source, zeros, twins)
        self._missing(corpus.missing)

    def _alike(self, source: BeirSource, zeros: set[str], twins: Twins) -> None:
        """Report document ids that differ only in zeros, case or Unicode's normal form."""
        again = BeirSource(self.files, self.root, source.split, lambda trouble: None)

        def ids() -> Iterator[str]:
            return (document.doc_id for document in again.documents())

        if zeros:
            self._one_number("document", zeros, ids(), source.corpus)
        if pairs := twins.among(ids):
            where, treatment = Where(self.files.where(source.corpus)), _APART
            self.tally.remark(Twins.WHAT, Twins.told(pairs), where, treatment, len(pairs))

    def _missing(self, missing: set[str]) -> None:
        """Report, for each split, judgements of documents that are not in the corpus."""
        for split, judgements in self.judged.items():
            strange = judgements["doc_id"][judgements["doc_id"].isin(list(missing))]
            if len(strange):
                of = f" ({split})" if len(self.judged) > 1 else ""
                what = f"judgement of a document not in the corpus{of}"
                place = Where(self.files.where(f"{self.root}/qrels/{split}.tsv".lstrip("/")))
                example = f"document {strange.iloc[0]!r}"
                treatment = "kept, but no system can retrieve the document"
                self.tally.remark(what, example, place, treatment, len(strange))

    def _one_number(self, what: str, zeros: set[str], ids: Iterable[str], file: str) -> None:
        """Report ids that differ only in leading zeros; `zeros` has all ids with a leading zero."""
        bare = {id.lstrip("0"): id for id in zeros if id.startswith("0") and id.isdecimal()}
        if not bare:
            return
        twins = [(bare[id.lstrip("0")], id) for id in ids if bare.get(id.lstrip("0"), id) != id]
        if twins:
            example = f"{what} {twins[0][0]!r} and {twins[0][1]!r}"
            where, treatment = Where(self.files.where(file)), _APART
            self.tally.remark(
                f"{what} ids that are the same number", example, where, treatment, len(twins)
            )


def _levels(judgements: DataFrame, name: str) -> dict[str, float]:
    levels = judgements["relevance"].value_counts().sort_index()
    return {f"{name} {level}": int(count) for level, count in levels.items()}
