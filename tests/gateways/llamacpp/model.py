"""A model of one layer that does nothing: the next token follows from the last one alone. It says one sentence; where
a grammar leaves no choice, it writes what the grammar wants. Whether it calls a tool is for its template to say."""

from pathlib import Path

import gguf
import numpy as np

WIDTH = 512
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
ROLES = ["[system]", "[user]", "[tool]", "[assistant]", "[calls]"]
WORDS = ["Hello", ",", "▁wide", "▁world", "!"]
END = "</s>"
# Each token by how llama.cpp is to take it.
KINDS = {
    gguf.TokenType.UNKNOWN: ["<unk>"],
    gguf.TokenType.CONTROL: ["<s>", END],
    gguf.TokenType.BYTE: BYTES,
    gguf.TokenType.USER_DEFINED: [*ROLES, "<tool_call>"],
    gguf.TokenType.NORMAL: WORDS,
}
TOKENS = [token for tokens in KINDS.values() for token in tokens]
QUOTE, LETTER = '"', "P"


def following():
    """What follows each token, the likeliest first."""
    byte = dict(enumerate(BYTES))
    chain = ["[assistant]", *WORDS, END]
    after = {token: [following] for token, following in zip(chain, chain[1:])}
    after |= {token: [byte[ord(QUOTE)]] for token in BYTES}
    # A text in JSON ends soon, and so does JSON.
    after[byte[ord(QUOTE)]] = [END, *(byte[ord(sign)] for sign in (LETTER, "}", ":", ","))]
    after[byte[ord("}")]] = [END, byte[ord("}")]]
    after[byte[ord(">")]] = [END]
    after["[calls]"] = ["<tool_call>"]
    after["<tool_call>"] = [byte[ord("\n")]]
    return after


def write(file):
    """Writes the model as GGUF."""
    at = {token: number for number, token in enumerate(TOKENS)}
    output = np.zeros((len(TOKENS), WIDTH), np.float32)
    for token, likeliest in following().items():
        for rank, other in enumerate(likeliest):
            output[at[other], at[token]] = 1 - 0.1 * rank
    model = gguf.GGUFWriter(file, "llama")
    model.add_context_length(32768)
    model.add_embedding_length(WIDTH)
    model.add_block_count(1)
    model.add_feed_forward_length(32)
    model.add_head_count(8)
    model.add_head_count_kv(8)
    model.add_layer_norm_rms_eps(1e-5)
    model.add_rope_dimension_count(WIDTH // 8)
    model.add_vocab_size(len(TOKENS))
    model.add_tokenizer_model("llama")
    model.add_token_list(TOKENS)
    model.add_token_scores([0.0] * len(TOKENS))
    model.add_token_types([kind for kind, tokens in KINDS.items() for _ in tokens])
    model.add_bos_token_id(at["<s>"])
    model.add_eos_token_id(at[END])
    model.add_unk_token_id(at["<unk>"])
    model.add_add_space_prefix(False)
    model.add_chat_template((Path(__file__).parent / "template.jinja").read_text())
    weights = {"token_embd": np.eye(len(TOKENS), WIDTH, dtype=np.float32), "output": output}
    weights |= {f"blk.0.attn_{name}": np.zeros((WIDTH, WIDTH), np.float32) for name in ("q", "k", "v", "output")}
    weights |= {f"blk.0.ffn_{name}": np.zeros((32, WIDTH), np.float32) for name in ("gate", "up")}
    weights |= {"blk.0.ffn_down": np.zeros((WIDTH, 32), np.float32)}
    weights |= {name: np.ones(WIDTH, np.float32) for name in ("output_norm", "blk.0.attn_norm", "blk.0.ffn_norm")}
    for name, values in weights.items():
        model.add_tensor(f"{name}.weight", values)
    model.write_header_to_file()
    model.write_kv_data_to_file()
    model.write_tensors_to_file()
    model.close()
