"""A tiny model with random weights, and its tokenizer: what trainers need to do a step."""

import pathlib

import trl
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM, set_seed


def tokenizer():
    """Bytes and a few words, with the chat template of Qwen3 as TRL knows it."""
    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    template = (pathlib.Path(trl.__file__).parent / "chat_templates" / "qwen3.jinja").read_text()
    words = [template, "open_door ring_bell reply text arguments name door left right", '{"type": "function"}'] * 4
    bpe.train_from_iterator(words, trainers.BpeTrainer(
        vocab_size=900, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False,
        special_tokens=["<|endoftext|>", "<|im_start|>", "<|im_end|>"]))
    bpe.add_tokens(["<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>", "<think>", "</think>"])
    made = PreTrainedTokenizerFast(tokenizer_object=bpe, eos_token="<|im_end|>", pad_token="<|endoftext|>",
                                   additional_special_tokens=["<|im_start|>"], padding_side="left")
    made.chat_template = template
    return made


def model(tokens):
    set_seed(0)
    return Qwen3ForCausalLM(Qwen3Config(
        vocab_size=len(tokens), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2,
        num_key_value_heads=1, head_dim=16, max_position_embeddings=8192, tie_word_embeddings=True,
        bos_token_id=None, eos_token_id=tokens.eos_token_id, pad_token_id=tokens.pad_token_id))
