"""Words of scripts without blanks: set apart where a text is written in them, and nowhere else."""

import pytest

from compute.datasets import scripts
from compute.datasets.records import n_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("检索系统", ["检索", "系统"]),
        ("检索，（系统）。", ["检索，", "（系统）。"]),
        ("这是BERT模型", ["这", "是", "BERT", "模型"]),
        ("これは日本語の文章です", ["これ", "は", "日本語", "の", "文章", "です"]),
        ("ไทยค้นหาเอกสาร", ["ไทย", "ค้นหา", "เอกสาร"]),
        ("ພາສາລາວເປັນພາສາ", ["ພາສາ", "ລາວ", "ເປັນ", "ພາສາ"]),
        ("ភាសាខ្មែរគឺជាភាសា", ["ភាសាខ្មែរ", "គឺជា", "ភាសា"]),
        ("မြန်မာဘာသာစကား", ["မြန်မာဘာသာ", "စကား"]),
    ],
)
def test_dictionaries_set_words_apart(text: str, words: list[str]) -> None:
    assert scripts.segmented(text).split() == words
    assert n_words("", text) == len(words)
    assert scripts.is_other(text)


@pytest.mark.parametrize(
    "text",
    [
        "plain words — of English",
        "naïve café, Größe; ελληνικά; русский язык; 한국어 문장",
        "In a long English sentence the one word 检索 is a word as any other.",
        "⚠\ufe0f a sign is no letter",
        "",
    ],
)
def test_all_other_text_is_as_it_was(text: str) -> None:
    assert scripts.written(text) == text == scripts.segmented(text)
    assert n_words(text) == len(text.split())
    assert not scripts.is_other(text)


@pytest.mark.parametrize("text", ["cafe\u0301", "हिन्दी", "x\u0302 is \u212b"])
def test_marks_and_other_forms_make_other_words(text: str) -> None:
    assert scripts.is_other(text)
    assert n_words(text) == len(text.split())
