"""A home in which every text from outside tries to act: in a page, a file, a path, a terminal."""

import json
import uuid
from pathlib import Path

import pandas as pd

from compute.base.settings import Settings
from compute.intake import imports
from compute.judgements import PERSON
from compute.judgements.tasks import tasks
from compute.judgements.tasks.tasks import Plan
from compute.reading.database import open_version
from compute.store.loading import Bench
from compute.store.store import Store
from compute.views.annotate import select as annotate_select

AWAY = "http://attacker.invalid"
"""Where nothing may ever be asked for."""
MARK = "hostile-mark"
LONG = "w" * 1500
TEXT = (
    f"{MARK} <script>window.acted=1</script><img src={AWAY}/i.png onerror=window.acted=1>"
    f" <a href='{AWAY}/a'>a</a> ![picture]({AWAY}/m.png) [link](javascript:window.acted=1)"
    f" <{AWAY}/auto> {AWAY}/bare www.attacker.invalid :red[red] $x^2$ '; drop table parts; --"
    f' "quoted" ../../etc/passwd \x1b[31mred\x1b]0;title\x07 \u202eturned\u202c =1+1 {LONG}'
)
IDS = (
    f"<img/src={AWAY}/id.png/onerror=window.acted=1>",
    "../../etc/passwd",
    "'||(select/**/1)--",
    "javascript:window.acted=1",
    f"[x]({AWAY})",
    "\u202eturned",
)
SYSTEMS = ("<b>*mine*&$x$", "javascript:acted;'--")
PERSON_NAME = f"<img src={AWAY}/p.png> [me](javascript:1)"
TITLE = f"<script>acted=1</script> ![t]({AWAY}/t.png) [t](javascript:1) ../.."
GUIDELINE = f"# {TITLE}\n\n- {TEXT}\n\n<iframe src={AWAY}/g></iframe>\n\n![g]({AWAY}/g.png)"


def write(folder: Path) -> Path:
    """The hostile collection in the BEIR layout: six documents, two queries."""
    (folder / "qrels").mkdir(parents=True)
    documents = [{"_id": one, "title": f"{TEXT} {n}", "text": TEXT} for n, one in enumerate(IDS)]
    asked = [{"_id": one, "text": f"{n} {TEXT}"} for n, one in enumerate(IDS[:2])]
    for name, records in (("corpus", documents), ("queries", asked)):
        lines = "".join(json.dumps(record) + "\n" for record in records)
        (folder / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    rows = ["query-id\tcorpus-id\tscore", *(f"{one}\t{IDS[2]}\t1" for one in IDS[:2])]
    (folder / "qrels" / "test.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return folder


def make(folder: Path) -> Settings:
    """A home with the collection, two runs, a task, and judgements of a hostile person."""
    now = Settings(home=folder / "home", threads=1)
    bench = Bench(Store(now), now)
    dataset = imports.import_dataset(bench, "hostile", path=write(folder / "beir")).dataset
    for place, system in enumerate(SYSTEMS):
        lines = [
            f"{query} Q0 {IDS[(rank + place) % 6]} {rank} {9 - rank} tag\n"
            for query in IDS[:2]
            for rank in range(5)
        ]
        file = folder / f"<img src=x> {place}.run"
        file.write_text("".join(lines), encoding="utf-8")
        imports.import_run(bench, file, dataset, system=system)
    plan = Plan(
        title=TITLE,
        dataset="hostile",
        systems=SYSTEMS,
        depth=5,
        n_pairs=4,
        order="depth",
        seed=1,
        grades=((0, "<b>no</b> [n](javascript:1)"), (1, f"![y]({AWAY}/y.png)")),
        guideline=GUIDELINE,
    )
    none = pd.DataFrame({"query_id": [], "doc_id": [], "relevance": []})
    with open_version(bench.store, bench.store.version()).cursor() as cursor:
        tops = annotate_select.StoredTops(cursor, "hostile")
        tasks.make(bench.store, plan, tops, none, PERSON_NAME)
    _judge(bench.store)
    return now


def _judge(store: Store) -> None:
    """Two people of whom one is hostile, who disagree."""
    rows = [
        {
            "dataset": "hostile",
            "query_id": IDS[0],
            "doc_id": IDS[0],
            "relevance": grade,
            "person": person,
            "task": "",
            "guideline_version": "",
            "source": PERSON,
            "entry": uuid.uuid4().hex,
            "note": TEXT,
        }
        for grade, person in ((0, PERSON_NAME), (1, "ada"))
    ]
    store.add_judgements(pd.DataFrame(rows))
