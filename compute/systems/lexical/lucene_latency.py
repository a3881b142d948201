"""Answer queries one at a time on one Lucene index: `python lucene_latency.py JAR HEAP OPTION…`.

The options are those of Anserini's SearchCollection, whose own searcher answers, so a query is
built, expanded and ranked as in a batch. There are two additional options. With `-disMax TIE`, a
document's score is that of its best field plus TIE times the others. With `-boosts bm25` or
`-boosts one`, the text consists of terms with weights, and a matching term scores BM25, or 1, times
its weight. Each line of the input is JSON with text, hits (their maximum number) and ids (whether
they are wanted). Each answer is a line of JSON: the number of hits, and document ids and scores if
wanted. The script ends with its input. It runs in its own process, because a process keeps its JVM
forever.
"""

import json
import os
import sys
from typing import Any


def main(jar: str, heap: str, *options: str) -> None:
    """Answer queries until the input ends."""
    # Java's log goes to standard error; the answers have their own handle.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    ask = _opened(jar, heap, options)
    answers.write(json.dumps({"ready": True}) + "\n")
    answers.flush()
    for line in sys.stdin:
        answers.write(ask(line) + "\n")
        answers.flush()


def _opened(jar: str, heap: str, options: tuple[str, ...]) -> Any:
    """Open the index; returns a function from a request to its answer, both as JSON."""
    import jnius_config

    jnius_config.add_classpath(jar)
    jnius_config.add_options(f"-Xmx{heap}")
    from jnius import autoclass

    options, tie_breaker = _without(options, "-disMax")
    options, boosts = _without(options, "-boosts")
    arguments = autoclass("java.util.ArrayList")()
    for option in options:
        arguments.add(option)
    args = autoclass("io.anserini.search.SearchCollection$Args")()
    autoclass("org.kohsuke.args4j.CmdLineParser")(args).parseArgument(arguments)
    collection = autoclass("io.anserini.search.SearchCollection")(args)
    index = autoclass("org.apache.lucene.search.IndexSearcher")(collection.reader)
    searched = _searching(collection, index, args, boosts, tie_breaker)

    def ask(line: str) -> str:
        request = json.loads(line)
        args.hits = request["hits"]
        found = searched(request["text"])
        scores = found.scores
        answer: dict[str, Any] = {"hits": len(scores)}
        if request["ids"]:
            answer |= {"docs": list(found.docids), "scores": list(scores)}
        return json.dumps(answer)

    return ask


def _searching(
    collection: Any, index: Any, args: Any, boosts: str | None, tie_breaker: str | None
) -> Any:
    """Return a function from a query to its hits, by the additional options or as in a batch."""
    if boosts is not None:
        return _boosted(collection, index, args, constant=boosts == "one")
    if tie_breaker is not None:
        return _best_field(collection, index, args, float(tie_breaker))
    return _as_batch(collection, index, args)


def _as_batch(collection: Any, index: Any, args: Any) -> Any:
    """Return a function from a query to the hits that SearchCollection would write."""
    from jnius import autoclass

    searcher = autoclass("io.anserini.search.SearchCollection$Searcher")(
        collection, index, collection.similarities.get(0), args
    )
    cascade = collection.cascades.get(0)
    number = autoclass("java.lang.Integer")(0)
    return lambda text: searcher.search(number, text, cascade, None, False)


def _best_field(collection: Any, index: Any, args: Any, tie_breaker: float) -> Any:
    """Return a function from a query to its hits by the best field; ties stay ties."""
    from jnius import autoclass

    build = autoclass("io.anserini.search.query.DisjunctionMaxQueryGenerator")(tie_breaker)

    def query(text: str) -> Any:
        return build.buildQuery(args.fieldsMap, collection.analyzer, text)

    return _ranked(collection, index, args, query)


def _boosted(collection: Any, index: Any, args: Any, *, constant: bool) -> Any:
    """Return a function from terms and weights, "harbour 1.5 ship 0.2", to hits; ties stay ties."""
    from jnius import autoclass

    term = autoclass("org.apache.lucene.index.Term")
    found = autoclass("org.apache.lucene.search.TermQuery")
    one = autoclass("org.apache.lucene.search.ConstantScoreQuery")
    boost = autoclass("org.apache.lucene.search.BoostQuery")
    builder = autoclass("org.apache.lucene.search.BooleanQuery$Builder")
    should = autoclass("org.apache.lucene.search.BooleanClause$Occur").SHOULD

    def query(text: str) -> Any:
        """Build a query in which each term has its weight as boost."""
        words, query = text.split(" "), builder()
        for word, weight in zip(words[::2], words[1::2], strict=True):
            clause = found(term("contents", word))
            query.add(boost(one(clause) if constant else clause, float(weight)), should)
        return query.build()

    return _ranked(collection, index, args, query)


def _ranked(collection: Any, index: Any, args: Any, query: Any) -> Any:
    """Return a function from a text to the hits of the query that `query` makes of it."""
    from jnius import autoclass

    docs, order = autoclass("io.anserini.search.ScoredDocs"), collection.BREAK_SCORE_TIES_BY_DOCID
    index.setSimilarity(collection.similarities.get(0).getSimilarity())
    # Lucene counts each occurrence of a word in the query, once for each field.
    index.setMaxClauseCount(2**31 - 1)
    return lambda text: docs.fromTopDocs(index.search(query(text), args.hits, order, True), index)


def _without(options: tuple[str, ...], name: str) -> tuple[tuple[str, ...], str | None]:
    """Return the options without this one, and its value."""
    if name not in options:
        return options, None
    at = options.index(name)
    return options[:at] + options[at + 2 :], options[at + 1]


if __name__ == "__main__":
    main(*sys.argv[1:])
