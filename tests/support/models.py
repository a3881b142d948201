"""Tiny models with random weights, saved like real ones and loaded like them.

Two layers of 16 dimensions, 512 positions, a vocabulary of single letters: a word of five letters
is five pieces, so that texts soon are longer than a model takes.
"""

import importlib
import json
import string
from pathlib import Path
from typing import Any

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[unused0]", "[unused1]"]
WORDS = ["the", "cat", "dog", "stock", "market", "query", "document", "prawda", "fałsz"]
POSITIONS = 512
_SMALL: dict[str, Any] = {"num_hidden_layers": 2, "num_attention_heads": 2, "hidden_size": 16}


def bert(folder: Path, seed: int = 0, **changes: Any) -> Path:
    """A BERT with its tokenizer in `folder`."""
    from transformers import BertConfig, BertModel, BertTokenizer

    tokenizer = BertTokenizer(vocab=pieces(), model_max_length=POSITIONS)
    sizes: dict[str, Any] = {"vocab_size": len(tokenizer), "intermediate_size": 32}
    config = BertConfig(**(_SMALL | sizes | changes))
    return save(folder, BertModel, config, tokenizer, seed)


def distilbert(folder: Path, seed: int = 0) -> Path:
    """A DistilBERT with its tokenizer in `folder`."""
    from transformers import BertTokenizer, DistilBertConfig, DistilBertModel

    tokenizer = BertTokenizer(vocab=pieces(), model_max_length=POSITIONS)
    config = DistilBertConfig(vocab_size=len(tokenizer), n_layers=2, n_heads=2, dim=16)
    config.hidden_dim = 32
    return save(folder, DistilBertModel, config, tokenizer, seed)


def roberta(folder: Path, seed: int = 0) -> Path:
    """A RoBERTa whose tokenizer knows single bytes in `folder`."""
    from tokenizers.pre_tokenizers import ByteLevel
    from transformers import RobertaConfig, RobertaModel, RobertaTokenizer

    names = ["<s>", "<pad>", "</s>", "<unk>", *sorted(ByteLevel.alphabet()), "<mask>"]
    vocabulary = {name: place for place, name in enumerate(names)}
    tokenizer = RobertaTokenizer(vocab=vocabulary, merges=[], model_max_length=POSITIONS)
    sizes: dict[str, Any] = {"vocab_size": len(vocabulary), "intermediate_size": 32}
    # RoBERTa counts positions from 2.
    sizes |= {"type_vocab_size": 1, "max_position_embeddings": POSITIONS + 2}
    config = RobertaConfig(**(_SMALL | sizes))
    return save(folder, RobertaModel, config, tokenizer, seed)


def sentence_transformer(
    folder: Path,
    base: Path,
    *,
    pooling: Any = "mean",
    similarity: Any = "cosine",
    unit_vectors: bool = False,
    max_length: int = POSITIONS,
    prompts: dict[str, str] | None = None,
) -> Path:
    """A SentenceTransformer over the encoder in `base`, in `folder`."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer

    words = Transformer(str(base), max_seq_length=max_length)
    modules: list[Any] = [words, Pooling(words.get_embedding_dimension(), pooling)]
    if unit_vectors:
        modules.append(Normalize())
    model = SentenceTransformer(
        modules=modules, similarity_fn_name=similarity, prompts=prompts, device="cpu"
    )
    model.save(str(folder))
    return folder


def cross_encoder(folder: Path, seed: int = 0, outputs: int = 1) -> Path:
    """A BERT that gives `outputs` numbers for a pair of texts, in `folder`."""
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizer

    tokenizer = BertTokenizer(vocab=pieces(), model_max_length=POSITIONS)
    sizes: dict[str, Any] = {"vocab_size": len(tokenizer), "intermediate_size": 32, **_SMALL}
    sizes |= {"num_labels": outputs, "max_position_embeddings": POSITIONS}
    config = BertConfig(**sizes)
    return save(folder, BertForSequenceClassification, config, tokenizer, seed)


def t5(folder: Path, seed: int = 0) -> Path:
    """A T5 whose pieces are words of the vocabulary, else letters, in `folder`."""
    from transformers import T5Config, T5ForConditionalGeneration, T5Tokenizer

    letters = [*string.ascii_letters, *string.digits, *string.punctuation, "ł"]
    words = [f"▁{word}" for word in [*WORDS, "true", "false"]]
    names = ["<pad>", "</s>", "<unk>", "▁", *words, *letters]
    scores = [0.0, 0.0, 0.0, -2.0, *[-1.0] * len(words), *[-4.0] * len(letters)]
    vocabulary = list(zip(names, scores, strict=True))
    tokenizer = T5Tokenizer(vocab=vocabulary, extra_ids=0, model_max_length=POSITIONS)
    sizes: dict[str, Any] = {"d_model": 16, "d_kv": 8, "d_ff": 32, "num_layers": 2, "num_heads": 2}
    sizes |= {"vocab_size": len(names), "decoder_start_token_id": 0}
    config = T5Config(**sizes)
    return save(folder, T5ForConditionalGeneration, config, tokenizer, seed)


def stanford_colbert(folder: Path, seed: int = 0) -> Path:
    """A ColBERT as the paper's authors save theirs: a BERT, a projection to 8, its metadata."""
    import torch
    from safetensors.torch import load_file, save_file

    bert(folder, seed)
    weights = load_file(folder / "model.safetensors")
    weights = {f"bert.{name}": tensor for name, tensor in weights.items()}
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        weights["linear.weight"] = torch.randn(8, 16)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    config = json.loads((folder / "config.json").read_text("utf-8"))
    config["architectures"] = ["HF_ColBERT"]
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    facts = {"query_maxlen": 32, "doc_maxlen": 180, "attend_to_mask_tokens": False}
    facts |= {"query_token_id": "[unused0]", "doc_token_id": "[unused1]", "mask_punctuation": True}
    (folder / "artifact.metadata").write_text(json.dumps(facts), encoding="utf-8")
    return folder


def pieces() -> dict[str, int]:
    """A WordPiece vocabulary: a few words; letters and digits that start words and go on."""
    signs = string.ascii_lowercase + string.digits
    names = [*SPECIAL, *WORDS, *signs, *string.punctuation, *(f"##{sign}" for sign in signs)]
    return {name: place for place, name in enumerate(names)}


def save(folder: Path, kind: Any, config: Any, tokenizer: Any, seed: int) -> Path:
    """A model of class `kind` with random weights, and its tokenizer, in `folder`."""
    import torch

    # Its own random numbers; those of other tests stay as they are.
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = kind(config)
        for name, parameter in model.named_parameters():
            # Wider than usual, so that different texts have clearly different scores.
            if parameter.ndim > 1:
                torch.nn.init.normal_(parameter, std=2.0 if "embeddings" in name else 0.3)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def masked_bert(folder: Path, seed: int = 0) -> Path:
    """A BERT that fills masks, with its tokenizer, in `folder`: what SPLADE is made from."""
    from transformers import BertConfig, BertForMaskedLM, BertTokenizer

    tokenizer = BertTokenizer(vocab=pieces(), model_max_length=POSITIONS)
    sizes: dict[str, Any] = {"vocab_size": len(tokenizer), "intermediate_size": 32}
    return save(folder, BertForMaskedLM, BertConfig(**(_SMALL | sizes)), tokenizer, seed)


def term_weights(folder: Path, seed: int = 0) -> Path:
    """A BERT that gives each word piece one number, with its tokenizer, in `folder`."""
    from transformers import BertConfig, BertForTokenClassification, BertTokenizer

    tokenizer = BertTokenizer(vocab=pieces(), model_max_length=POSITIONS)
    sizes: dict[str, Any] = {"vocab_size": len(tokenizer), "intermediate_size": 32}
    sizes["num_labels"] = 1
    config = BertConfig(**(_SMALL | sizes))
    return save(folder, BertForTokenClassification, config, tokenizer, seed)


def sparse_encoder(folder: Path, base: Path) -> Path:
    """A SparseEncoder that pools like SPLADE over the masked model in `base`, in `folder`."""
    from sentence_transformers import SparseEncoder

    SparseEncoder(str(base), device="cpu").save(str(folder))
    return folder


def use_qa(folder: Path) -> None:
    """A SavedModel with the signatures of USE-QA, which counts bytes, in `folder`."""
    # By name: whoever has not installed the extra has no types of it either.
    tensorflow: Any = importlib.import_module("tensorflow")
    text = tensorflow.TensorSpec([None], tensorflow.string)

    def count(texts: Any, letter: str) -> Any:
        other = tensorflow.strings.length(tensorflow.strings.regex_replace(texts, letter, ""))
        return tensorflow.strings.length(texts) - other

    def vector(first: Any, last: Any) -> Any:
        length = tensorflow.strings.length
        rows = [1 + length(first), count(first, "e"), length(last), count(last, "a")]
        return {"outputs": tensorflow.cast(tensorflow.stack(rows, axis=1), tensorflow.float32)}

    class Tiny(tensorflow.Module):
        @tensorflow.function(input_signature=[text])
        def question(self, input: Any) -> Any:
            return vector(input, input)

        @tensorflow.function(input_signature=[text, text])
        def response(self, input: Any, context: Any) -> Any:
            return vector(input, context)

    model = Tiny()
    signatures = {"question_encoder": model.question, "response_encoder": model.response}
    tensorflow.saved_model.save(model, str(folder), signatures=signatures)
