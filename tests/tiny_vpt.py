"""A VPT network of a few thousand parameters, and files as the published ones are."""

import pickle
from dataclasses import replace

import torch

from interplay.agents.vpt.network import VPT, Architecture

TINY = Architecture(hidsize=16, attention_heads=2, impala_width=1, impala_chans=(4, 8, 8), img_shape=(32, 32, 3))


def tiny_network(seed=0, **sizes):
    """With random weights."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = VPT(replace(TINY, **sizes)).requires_grad_(False).eval()
        # Heads that prefer some actions, so that one network plays otherwise than another.
        network.pi_head.buttons.linear_layer.weight.mul_(20)
    return network


def model_document(architecture=TINY, **changes):
    """What a `.model` file holds: sizes, what all networks have in common, and entries that nobody reads."""
    net = {name: list(value) if isinstance(value, tuple) else value for name, value in architecture.to_json().items()}
    temperature = net.pop("temperature")
    net |= {
        "attention_mask_style": "clipped_causal",
        "diff_mlp_embedding": False,
        "impala_kwargs": {"post_pool_groups": 1},
        "init_norm_kwargs": {"batch_norm": False, "group_norm_groups": 1},
        "only_img_input": True,
        "pointwise_use_activation": False,
        "recurrence_is_residual": True,
        "recurrence_type": "transformer",
        "use_pointwise_layer": True,
        "use_pre_lstm_ln": False,
    }
    arguments = {
        "net": {"function": "ypt.model.policy:Policy", "args": net | changes},
        "pi_head_opts": {"temperature": temperature},
    }
    return {"model": {"function": "ypt.model.agent:Agent", "args": arguments}, "extra": (None, 1.5, b"x")}


def write_files(folder, network, *, protocol=4):
    """`tiny.model` and `tiny.weights`."""
    model, weights = folder / "tiny.model", folder / "tiny.weights"
    model.write_bytes(pickle.dumps(model_document(network.architecture), protocol=protocol))
    torch.save(network.state_dict(), weights)
    return model, weights
