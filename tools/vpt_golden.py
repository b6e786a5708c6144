"""Write down what the published VPT code computes, for the tests of our own:  python tools/vpt_golden.py CHECKOUT

CHECKOUT is a copy of github.com/openai/Video-Pre-Training, of any commit; its code is run and nothing of it is kept. It needs
`pip install gym3 attrs`; MineRL is not needed (the one table that is imported from it is not used).

Weights and pictures come from formulas, so that no file is needed: every entry is a hash of its place. Written are
`tests/agents/data/vpt_network.npz` (a tiny network and 1x, 300 pictures one at a time, episodes that begin at two of them) and
`tests/agents/data/vpt_codec.json` (all 8641 x 121 actions and 100,000 random ones). 1x takes some minutes.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import sys
import types
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

DATA = Path(__file__).parent.parent / "tests" / "agents" / "data"
NUM_FRAMES = 300
FIRST_FRAMES = (3, 170)
"""Where an episode begins: with a memory that is nearly empty, and with a full one."""
MEMORY_FRAMES = (4, 299)
"""After which the memories are written down."""
NETWORKS: dict[str, dict[str, Any]] = {
    "tiny": {"hidsize": 64, "attention_heads": 4, "impala_width": 1, "img_shape": [32, 32, 3]},
    "1x": {"hidsize": 1024, "attention_heads": 8, "impala_width": 4, "img_shape": [128, 128, 3]},
}
SETTINGS: dict[str, Any] = {
    "attention_mask_style": "clipped_causal",
    "attention_memory_size": 256,
    "diff_mlp_embedding": False,
    "impala_chans": [16, 32, 32],
    "impala_kwargs": {"post_pool_groups": 1},
    "init_norm_kwargs": {"batch_norm": False, "group_norm_groups": 1},
    "n_recurrence_layers": 4,
    "only_img_input": True,
    "pointwise_ratio": 4,
    "pointwise_use_activation": False,
    "recurrence_is_residual": True,
    "recurrence_type": "transformer",
    "timesteps": 128,
    "use_pointwise_layer": True,
    "use_pre_lstm_ln": False,
}
"""What the published `.model` files say beside the sizes."""
TEMPERATURE = 2.0
NUM_RANDOM_ACTIONS = 100_000


# Formulas


def hashed(number: int, size: int) -> np.ndarray:
    """`size` numbers between -1 and 1, float32, of the stream `number`: the last step of MurmurHash3 over the place."""
    x = np.arange(size, dtype=np.uint32) + np.uint32((number + 1) * 2_654_435_761 % 2**32)
    x ^= x >> np.uint32(16)
    x *= np.uint32(0x85EBCA6B)
    x ^= x >> np.uint32(13)
    x *= np.uint32(0xC2B2AE35)
    x ^= x >> np.uint32(16)
    return (x >> np.uint32(8)).astype(np.float32) / np.float32(2**23) - np.float32(1)


def weights(shapes: Mapping[str, tuple[int, ...]]) -> dict[str, np.ndarray]:
    """Weights of a network by the names and shapes of its tensors, float32."""
    return {name: _tensor(number, name, shapes[name]) for number, name in enumerate(sorted(shapes))}


def _tensor(number: int, name: str, shape: tuple[int, ...]) -> np.ndarray:
    for end, value in (("running_mean", 0.3), ("running_mean_sq", 1.7), ("debiasing_term", 0.8)):
        if name.endswith(end):
            return np.full(shape, value, np.float32)
    values = hashed(number, math.prod(shape)).reshape(shape)
    if len(shape) == 1:
        values *= np.float32(0.1)
        return values if name.endswith("bias") else values + np.float32(1)
    if name.endswith("b_nd"):
        return values * np.float32(0.5)
    # Queries and keys are large, so that attention looks at some pictures more than at others.
    gain = 3.0 if "q_layer" in name or "k_layer" in name else 1.5
    values *= np.float32(gain * math.sqrt(3 / math.prod(shape[1:])))
    return values


def picture(number: int, height: int, width: int) -> np.ndarray:
    """A pattern that moves, uint8, shape (height, width, 3)."""
    y, x, c = np.ogrid[:height, :width, :3]
    return (((x * 3 + number * 5) ^ (y * 2 + number * (c + 1))) + (c * 40) & 255).astype(np.uint8)


def picks(number: int, size: int, count: int) -> np.ndarray:
    """Which of `size` entries are written down at one frame: others at each, so that in the end all of them are."""
    return (number * 7 + np.arange(count) * (size // count)) % size


def random_actions() -> tuple[np.ndarray, np.ndarray]:
    """Buttons, uint8, shape (N, 20), of which a quarter is down, and turns, float64, shape (N, 2), within 14 degrees."""
    buttons = hashed(1000, NUM_RANDOM_ACTIONS * 20).reshape(-1, 20) > 0.5
    # The cube makes small turns as frequent as large ones.
    turns = hashed(1001, NUM_RANDOM_ACTIONS * 2).reshape(-1, 2).astype(np.float64) ** 3 * 14
    buttons[::2, 10] = False  # half of them surely without `inventory`, which hides the others
    return buttons.astype(np.uint8), turns


def digest(*arrays: np.ndarray) -> str:
    """SHA-256 of arrays, one after the other, as they lie in memory."""
    together = hashlib.sha256()
    for array in arrays:
        together.update(np.ascontiguousarray(array).tobytes())
    return together.hexdigest()


# The published code


def open_checkout(folder: Path) -> None:
    """Make the published modules importable; a table of MineRL's that they import and do not use is empty."""
    sys.path.insert(0, str(folder))
    for name in ("minerl", "minerl.herobraine", "minerl.herobraine.hero", "minerl.herobraine.hero.mc"):
        sys.modules[name] = types.ModuleType(name)
    sys.modules["minerl.herobraine.hero"].mc = sys.modules["minerl.herobraine.hero.mc"]  # type: ignore[attr-defined]
    sys.modules["minerl.herobraine.hero.mc"].MINERL_ITEM_MAP = {}  # type: ignore[attr-defined]


def their_network(name: str) -> Any:
    """Their policy with the formula's weights."""
    import torch
    from gym3.types import DictType  # type: ignore[import-not-found]
    from lib.action_mapping import CameraHierarchicalMapping  # type: ignore[import-not-found]
    from lib.policy import MinecraftAgentPolicy  # type: ignore[import-not-found]

    policy = MinecraftAgentPolicy(
        action_space=DictType(**CameraHierarchicalMapping(n_camera_bins=11).get_action_space_update()),
        policy_kwargs=SETTINGS | NETWORKS[name],
        pi_head_kwargs={"temperature": TEMPERATURE},
    )
    shapes = {key: tuple(tensor.shape) for key, tensor in policy.state_dict().items()}
    policy.load_state_dict({key: torch.from_numpy(array) for key, array in weights(shapes).items()})
    return policy.eval()


def network_values(name: str) -> dict[str, np.ndarray]:
    """What their network says of each picture, and its memories."""
    import torch

    policy = their_network(name)
    height, width, _ = NETWORKS[name]["img_shape"]
    lines: dict[str, list[np.ndarray]] = {}
    memories: dict[str, list[np.ndarray]] = {}
    gap = math.inf
    state = policy.initial_state(1)
    with torch.inference_mode():
        for number in range(NUM_FRAMES):
            pictures = torch.from_numpy(picture(number, height, width)[None, None])
            first = torch.tensor([[number in FIRST_FRAMES]])
            (latent, _), state = policy.net({"img": pictures}, state, {"first": first})
            heads = {key: value.squeeze().numpy() for key, value in policy.pi_head(latent).items()}
            value = policy.value_head.denormalize(policy.value_head(latent))
            gap = min(gap, *(float(np.diff(np.sort(one)[-2:])[0]) for one in heads.values()))
            for key, row in frame_values(number, latent.squeeze().numpy(), heads["buttons"], heads["camera"], value.item()):
                lines.setdefault(f"{name}_{key}", []).append(row)
            if number in MEMORY_FRAMES:
                blocks = [(mask[0, 0].numpy(), keys[0].numpy(), values[0].numpy()) for mask, (keys, values) in state]
                for key, row in memory_values(number, blocks):
                    memories.setdefault(f"{name}_{key}", []).append(row)
            if number % 20 == 0:
                print(f"{name}: {number} of {NUM_FRAMES}", file=sys.stderr)
    print(f"{name}: the two most likely actions differ by {gap:.2g} at least", file=sys.stderr)
    return {key: np.stack(rows) for key, rows in (lines | memories).items()}


def frame_values(
    number: int, latent: np.ndarray, buttons: np.ndarray, camera: np.ndarray, value: float
) -> Iterator[tuple[str, np.ndarray]]:
    """What is written down of one frame."""
    yield "latents", latent[picks(number, latent.size, 32)]
    yield "buttons", buttons[picks(number, buttons.size, 32)]
    yield "camera", camera[picks(number, camera.size, 16)]
    yield "value", np.float32(value)  # type: ignore[misc]
    yield "likeliest", np.array([buttons.argmax(), camera.argmax()], np.int16)


def memory_values(number: int, blocks: list[tuple[np.ndarray, np.ndarray, np.ndarray]]) -> Iterator[tuple[str, np.ndarray]]:
    """What is written down of the memories: which pictures are there, keys and values of every seventh from the last on."""
    yield "is_there", np.stack([is_there for is_there, _, _ in blocks])
    for key, place in (("keys", 1), ("values", 2)):
        yield key, np.stack([block[place][::-7, picks(number, block[place].shape[1], 16)] for block in blocks])


def codec_values() -> dict[str, Any]:
    """Digests of what their codec makes of all joint actions, and of random ones; and the turns of the eleven bins."""
    from lib.action_mapping import CameraHierarchicalMapping  # type: ignore[import-not-found]
    from lib.actions import ActionTransformer, Buttons  # type: ignore[import-not-found]

    mapping = CameraHierarchicalMapping(n_camera_bins=11)
    transformer = ActionTransformer(camera_binsize=2, camera_maxval=10, camera_mu=10, camera_quantization_scheme="mu_law")
    joint = np.indices((8641, 121)).reshape(2, -1)
    factored = mapping.to_factored({"buttons": joint[0][:, None], "camera": joint[1][:, None]})
    turned = transformer.policy2env(factored)
    decoded = np.stack([turned[name] for name in Buttons.ALL], axis=-1).astype(np.uint8), turned["camera"]
    buttons, turns = random_actions()
    named = {name: buttons[:, number] for number, name in enumerate(Buttons.ALL)}
    encoded = mapping.from_factored(transformer.env2policy({**named, "camera": turns}))
    pair = encoded["buttons"][:, 0].astype(np.int64), encoded["camera"][:, 0].astype(np.int64)
    return {
        "buttons": Buttons.ALL,
        "turns": [float(one).hex() for one in transformer.undiscretize_camera(np.arange(11))],
        "decoded_sha256": digest(*decoded),
        "encoded_sha256": digest(*pair),
        "encoded_begin": [part[:200].tolist() for part in pair],
        "num_different": [len(np.unique(part)) for part in pair],
    }


def main() -> None:
    """Run the published code and write the files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path)
    options = parser.parse_args()
    open_checkout(options.checkout)
    DATA.mkdir(parents=True, exist_ok=True)
    (DATA / "vpt_codec.json").write_text(json.dumps(codec_values(), indent=1) + "\n")
    found = {key: array for name in NETWORKS for key, array in network_values(name).items()}
    np.savez_compressed(DATA / "vpt_network.npz", **found)  # type: ignore[arg-type]
    for path in (DATA / "vpt_codec.json", DATA / "vpt_network.npz"):
        print(f"Wrote {path}, {path.stat().st_size:,} bytes.")


if __name__ == "__main__":
    main()
