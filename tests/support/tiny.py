"""A tiny collection in the BEIR layout: six documents, three queries; one text is hostile."""

import json
from pathlib import Path

HOSTILE = "<script>alert('x')</script> [link](javascript:alert(1)) <b>bold</b> $x$ :red[red]"

DOCUMENTS = [
    {"_id": "d1", "title": "Harbour", "text": "Ships leave the old harbour at dawn."},
    {"_id": "d2", "title": "Bridges", "text": "The bridge over the river opened in spring."},
    {"_id": "d3", "title": "", "text": "A ferry crosses the river between the two bridges."},
    {"_id": "d4", "title": HOSTILE, "text": f"The harbour master writes {HOSTILE} into the log."},
    {"_id": "d5", "title": "Lighthouse", "text": "Its lamp guides ships past the rocks at night."},
    {"_id": "d6", "title": "Market", "text": "Fish from the harbour is sold in the morning."},
]
QUERIES = [
    {"_id": "q1", "text": "ships in the harbour"},
    {"_id": "q2", "text": "crossing the river by bridge"},
    {"_id": "q3", "text": f"harbour fish {HOSTILE}"},
]
JUDGEMENTS = [("q1", "d1", 2), ("q1", "d5", 1), ("q2", "d2", 1), ("q2", "d3", 1), ("q3", "d6", 1)]


def write_tiny(folder: Path) -> Path:
    """Write the collection as a BEIR folder with split test; returns the folder."""
    (folder / "qrels").mkdir(parents=True)
    for name, records in (("corpus", DOCUMENTS), ("queries", QUERIES)):
        lines = "".join(json.dumps(record) + "\n" for record in records)
        (folder / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    rows = ["query-id\tcorpus-id\tscore", *("\t".join(map(str, row)) for row in JUDGEMENTS)]
    (folder / "qrels" / "test.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return folder
