"""Tiny models with random weights, saved like real ones and loaded like them.

Two layers of 16 dimensions, 512 positions, a vocabulary of single letters: a word of five letters
is five pieces, so that texts soon are longer than a model takes.
"""

import string
from pathlib import Path
from typing import Any

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
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
