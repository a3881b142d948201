"""The papers' tables, and the statements about them that they must bear out."""

import pytest
from pandas import DataFrame

from compute.datasets import published


@pytest.fixture(scope="module")
def figures() -> DataFrame:
    return published.results()


def test_every_printed_score_is_there_once(figures: DataFrame) -> None:
    assert len(figures) == 1416
    assert not figures.duplicated(["source", "dataset", "system", "measure"]).any()
    assert figures["value"].notna().all()


def test_nobody_changes_what_others_read(figures: DataFrame) -> None:
    own = published.results()
    own.loc[:, "value"] = 0.0
    own["measure"] = "other"
    assert published.results().equals(figures)


def test_measures_of_the_papers_take_our_names(figures: DataFrame) -> None:
    assert not figures["measure"].str.contains("MRR|Accuracy").any()
    assert {"RR@10", "Success@5", "Success@20", "R_cap@100", "Hole@10"} <= set(figures["measure"])


def test_every_system_but_the_ablations_has_our_name(figures: DataFrame) -> None:
    ours = set(published.names().values())
    printed = figures.loc[~figures["system"].isin(ours), "note"]
    assert set(printed) == {"ablation"}
    bm25 = figures[figures["printed"].str.startswith("BM25 (")]
    assert dict(zip(bm25["printed"], bm25["system"], strict=True)) == {
        "BM25 (Anserini)": "bm25-multifield",
        "BM25 (Elasticsearch)": "bm25-elasticsearch",
        "BM25 (Pyserini)": "bm25",
        "BM25 (WordPiece)": "bm25-wordpiece",
    }


def test_sbert_of_v1_is_its_cosine_variant_where_table_10_is_sound(figures: DataFrame) -> None:
    v1 = figures[figures["system"] == "sbert-cosine"]
    table_2 = v1[v1["source"] == "BEIR v1, Table 2"].set_index("dataset")["value"]
    table_10 = v1[(v1["source"] == "BEIR v1, Table 10") & ~v1["suspect"]].set_index("dataset")
    assert len(table_10) == 15
    assert (table_10["value"] == table_2.loc[table_10.index]).all()


def test_suspect_and_in_domain_values_are_marked(figures: DataFrame) -> None:
    assert figures["suspect"].sum() == 15
    # 32 marks of BEIR; 12 of systems that BEIR-PL trained on MS MARCO, which marks only ✓ and ×.
    assert figures["in_domain"].sum() == 44
    nq = figures[(figures["source"] == "BEIR v4, Table 2") & (figures["dataset"] == "nq")]
    assert nq.loc[nq["in_domain"], "system"].tolist() == ["dpr"]


def test_sources_start_with_the_main_tables_and_split_the_two_figures_of_table_4(
    figures: DataFrame,
) -> None:
    known = published.sources(figures)
    assert known[:2] == ["BEIR v4, Table 2", "BEIR v1, Table 2"]
    assert "BEIR v4, Table 4, original judgements" in known
    assert "BEIR-PL, Table 4" in known
    assert set(figures["source"]) == set(known)


def test_msmarco_on_the_test_split_is_another_dataset_than_on_dev(figures: DataFrame) -> None:
    polish = figures[figures["source"].str.startswith("BEIR-PL")]
    assert "msmarco/test" in set(polish["dataset"])
    assert "msmarco" not in set(polish["dataset"])


def test_added_judgements_lift_ance_over_bm25_on_trec_covid(figures: DataFrame) -> None:
    effect = published.annotation_effect(figures)
    before, after = effect["before"].to_dict(), effect["after"].to_dict()
    assert (before["doct5query"], after["doct5query"]) == (0.713, 0.714)
    assert (before["ance"], after["ance"]) == (0.654, 0.735)
    assert after["bm25-multifield"] == 0.668
    assert round(100 * (after["ance"] - after["bm25-multifield"]), 1) == 6.7
    assert len(effect) == 9 and not effect.isna().any(axis=None)


def test_efficiency_figures_name_the_bm25_of_their_paper() -> None:
    table = published.efficiency()
    bm25 = table[table["system"].str.startswith("bm25-")]
    assert set(bm25["system"]) == {"bm25-elasticsearch", "bm25-multifield"}
    ours = set(published.names().values())
    assert set(table["system"]) <= ours
    assert table["index_gb"].notna().all()


def test_translation_quality_lies_between_0_and_1() -> None:
    table = published.translation()
    assert len(table) == 9
    for column in ("labse", "semantic", "strict"):
        assert table[column].between(0, 1).all()


def test_the_printed_overlap_has_every_pair_of_19_collections_once() -> None:
    pairs = published.overlap()
    assert len(pairs) == 19 * 18 // 2
    assert (pairs["dataset"] < pairs["other"]).all()
    values = pairs.set_index(["dataset", "other"])["similarity"]
    assert values["nfcorpus", "scifact"] == 0.582
    assert values["bioasq", "trec-covid"] == 0.6702
