#!/usr/bin/env python3
"""Tokens per second of Scantling and of PyTorch FSDP2 over gloo, in turn, on the same weights and the same rows.

The peer is llama_peer.py of a folder given with --peer (hidden 768, 12 layers, feed-forward 2048, vocabulary 32000, 2 ranks), run tuned:
MKL's fast path and jemalloc preloaded, FSDP2 without resharding after forward and with embedding and head in groups of their own.
Needs a Python with torch 2.11.0, numpy and safetensors (--python). Prints one JSON line per setting; exits 1 if the loss curves differ.
"""
import argparse, json, os, pathlib, statistics, subprocess, sys, tempfile, time

CONFIG = dict(architectures=["LlamaForCausalLM"], model_type="llama", hidden_size=768, intermediate_size=2048, num_hidden_layers=12,
              num_attention_heads=12, num_key_value_heads=12, vocab_size=32000, max_position_embeddings=2048, rms_norm_eps=1e-5,
              rope_theta=10000.0, tie_word_embeddings=False, hidden_act="silu", torch_dtype="float32")
NAMES = {"n1": "input_layernorm", "attn.q": "self_attn.q_proj", "attn.k": "self_attn.k_proj", "attn.v": "self_attn.v_proj",
         "attn.o": "self_attn.o_proj", "n2": "post_attention_layernorm", "mlp.gate": "mlp.gate_proj", "mlp.up": "mlp.up_proj",
         "mlp.down": "mlp.down_proj"}
# Run by the peer's Python: its initial weights under Hugging Face names, and its batches as token rows.
MAKE = """
import json, sys, torch
peer, out, names, seq, steps = sys.argv[1], sys.argv[2], json.loads(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5])
sys.path.insert(0, peer)
import llama_peer as L
from safetensors.torch import save_file
if not __import__('os').path.exists(out + '/model.safetensors'):
    model = L.Llama(L.CFG['C1'])
    L.init_weights(model)
    def hf(name):
        if name == 'emb.weight': return 'model.embed_tokens.weight'
        if name == 'norm.weight': return 'model.norm.weight'
        if name == 'head.weight': return 'lm_head.weight'
        _, layer, rest = name.split('.', 2)
        return f"model.layers.{layer}.{names[rest.removesuffix('.weight')]}.weight"
    save_file({hf(n): p.detach().contiguous() for n, p in model.named_parameters()}, out + '/model.safetensors', metadata={'format': 'pt'})
with open(f'{out}/rows-{seq}.jsonl', 'w') as f:
    for step in range(steps):
        for rank in range(2):
            x, y = L.batch_of(step, 2, 1, seq, 32000, rank)
            f.write(json.dumps({'input_ids': x[0].tolist() + [int(y[0, -1])]}) + chr(10))
"""


def ours(a, work, seq, dtype):
    run = dict(model=str(work), data=dict(train=f"{work}/rows-{seq}.jsonl", format="tokens", max_length=seq + 1, shuffle=False),
               devices=dict(count=2), layout=dict(mesh=dict(shard=2), precision=dict(compute="bfloat16" if dtype == "bf16" else "float32")),
               train=dict(per_device_train_batch_size=1, max_steps=a.steps, learning_rate=3e-4, lr_scheduler_type="constant", weight_decay=0.01,
                          max_grad_norm=0, nonfinite="stop", output_dir=f"{work}/out"))
    path = work / "run.yaml"
    path.write_text(json.dumps(run))
    subprocess.run([a.scantling, "train", str(path), "--overwrite"], check=True, capture_output=True)
    rows = [json.loads(line) for line in open(f"{work}/out/metrics.jsonl")]
    summary = json.load(open(f"{work}/out/summary.json"))
    rate = statistics.median(r["tokens_per_second"] for r in rows[2:]) * seq / (seq + 1)
    return rate, [r["loss"] for r in rows], summary["process_peak_rss_bytes"], summary["first_step_seconds"]


def peer(a, work, seq, dtype):
    env = dict(os.environ, LD_PRELOAD=f"{work}/stub.so:{a.jemalloc}", MALLOC_CONF="dirty_decay_ms:-1,muzzy_decay_ms:-1", OMP_NUM_THREADS="1",
               PEER_T0=str(time.time()))
    command = [str(pathlib.Path(a.python).parent / "torchrun"), "--standalone", "--nproc_per_node", "2", f"{a.peer}/llama_peer.py", "--config", "C1", "--mode", "fsdp2",
               "--threads", "1", "--dtype", dtype, "--seq", str(seq), "--steps", str(a.steps - 2), "--reshard", "0", "--wrap", "all"]
    for attempt in range(3):  # gloo sometimes aborts when its processes end
        done = subprocess.run(command, env=env, capture_output=True, text=True)
        if done.returncode == 0:
            break
        print(f"the peer failed (attempt {attempt + 1}):\n{done.stderr[-2000:]}", file=sys.stderr, flush=True)
    else:
        sys.exit(f"the peer failed three times: {' '.join(command)}")
    row = json.loads([line for line in done.stdout.splitlines() if line.startswith("{")][-1])
    return row["tok_s"], row["losses"], row["hwm_sum_mb"] * 2**20, row["first_step_from_launch_s"]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--scantling", default="build/scantling")
    p.add_argument("--peer", required=True, help="folder with llama_peer.py and amd_stub.c")
    p.add_argument("--python", default=sys.executable)
    p.add_argument("--jemalloc", default="/usr/lib/x86_64-linux-gnu/libjemalloc.so.2")
    p.add_argument("--tokens", type=int, nargs="+", default=[512, 128, 32])
    p.add_argument("--dtypes", nargs="+", default=["fp32", "bf16"])
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--steps", type=int, default=8)
    a = p.parse_args()
    agree = True
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        (work / "config.json").write_text(json.dumps(CONFIG))
        subprocess.run(["gcc", "-shared", "-fPIC", "-O2", "-o", str(work / "stub.so"), f"{a.peer}/amd_stub.c"], check=True)
        for seq in a.tokens:
            subprocess.run([a.python, "-c", MAKE, a.peer, str(work), json.dumps(NAMES), str(seq), str(a.steps)], check=True)
            for dtype in a.dtypes:
                pairs = [(ours(a, work, seq, dtype), peer(a, work, seq, dtype)) for _ in range(a.rounds)]
                (_, loss, rss, first), (_, peer_loss, peer_rss, peer_first) = pairs[-1]
                worst = max(abs(x - y) / y for x, y in zip(loss, peer_loss))
                same = worst < (1e-4 if dtype == "fp32" else 5e-3)
                agree = agree and same
                ratios = [o[0] / q[0] for o, q in pairs]
                print(json.dumps(dict(tokens=seq, dtype=dtype, ratio=round(statistics.median(ratios), 3), ratio_min=round(min(ratios), 3),
                                      ratio_max=round(max(ratios), 3), tokens_per_second=[round(o[0], 1) for o, _ in pairs],
                                      peer_tokens_per_second=[q[0] for _, q in pairs], loss_difference=worst, losses_agree=same,
                                      memory_ratio=round(rss / peer_rss, 3), rss_mb=round(rss / 2**20), peer_rss_mb=round(peer_rss / 2**20),
                                      first_step_s=round(first, 2), peer_first_step_s=peer_first, rounds=a.rounds)), flush=True)
    sys.exit(0 if agree else 1)


if __name__ == "__main__":
    main()
