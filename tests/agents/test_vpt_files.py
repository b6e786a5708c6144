"""VPT's published files are read without running anything in them, and what does not fit is said in words."""

import json
import os
import pickle
import resource
import zipfile
from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from tiny_vpt import TINY, model_document, tiny_network, write_files  # noqa: E402

import interplay.record  # noqa: E402
from interplay.agents import find, names  # noqa: E402
from interplay.agents.vpt.agent import import_files, load_network, save  # noqa: E402
from interplay.agents.vpt.checkpoint import CheckpointError, build, read_model, read_weights  # noqa: E402
from interplay.agents.vpt.folder import VPTError  # noqa: E402
from interplay.agents.vpt.network import WIDTHS  # noqa: E402
from interplay.cli import main  # noqa: E402
from interplay.files import part_of  # noqa: E402


class Harmful:
    """Makes a file where it is unpickled the usual way."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (os.mkdir, (str(self.path),))


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_the_sizes_of_a_model_file_are_read_whatever_python_wrote_it(tmp_path, protocol):
    path = tmp_path / "1x.model"
    document = model_document(WIDTHS["1x"])
    if protocol == 2:
        del document["extra"]  # it has bytes, which protocol 2 writes as a call
    path.write_bytes(pickle.dumps(document, protocol=protocol))
    assert read_model(path) == WIDTHS["1x"]


def test_a_temperature_may_be_a_number_of_numpy(tmp_path):
    path, document = tmp_path / "1x.model", model_document()
    document["model"]["args"]["pi_head_opts"]["temperature"] = np.float64(1.5)
    path.write_bytes(pickle.dumps(document))
    assert read_model(path).temperature == 1.5


def test_files_that_name_a_function_are_refused_and_nothing_is_run(tmp_path):
    trap = tmp_path / "trap"
    model, weights = tmp_path / "bad.model", tmp_path / "bad.weights"
    document = model_document()
    document["model"]["args"]["net"]["args"]["hidsize"] = Harmful(trap)
    model.write_bytes(pickle.dumps(document))
    with pytest.raises(
        CheckpointError, match=r"bad\.model is not a \.model file of VPT: it names posix\.mkdir, .*Nothing was run"
    ):
        read_model(model)
    tensors = tiny_network().state_dict()
    for zipped in (True, False):
        torch.save(tensors | {"net.final_ln.bias": Harmful(trap)}, weights, _use_new_zipfile_serialization=zipped)
        with pytest.raises(
            CheckpointError,
            match=r"bad\.weights is not a file of weights: it names posix\.mkdir, .*\n.*Nothing in it was run\. Fetch it again",
        ):
            read_weights(weights)
    assert not trap.exists()
    pickle.loads(pickle.dumps(Harmful(trap)))  # noqa: S301 (the trap works)
    assert trap.exists()


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"recurrence_type": "multi_layer_lstm"}, "recurrence_type is 'multi_layer_lstm', expected 'transformer'"),
        ({"use_pre_lstm_ln": True}, "use_pre_lstm_ln is True, expected False"),
        ({"hidsize": "big"}, "hidsize is 'big', which is not a size of a network"),
        ({"hidsize": 17}, "these sizes do not fit each other"),
        ({"timesteps": 256}, "these sizes do not fit each other"),
        ({"img_shape": [128]}, "these sizes do not fit each other"),
        ({"impala_chans": 3}, "impala_chans is 3, which is not a size"),
        ({"impala_chans": [4] * 1000}, r"impala_chans is \[4, 4, .*\.\.\.\], which is not a size"),
        ({"impala_chans": [1 << 16]}, "which is not a size"),
        ({"n_recurrence_layers": 3000}, "n_recurrence_layers is 3000, which is not a size"),
        ({"img_shape": [32, 32, 4]}, "these sizes do not fit each other"),
    ],
)
def test_a_model_file_of_another_network_says_what_is_other(tmp_path, changes, expected):
    path = tmp_path / "other.model"
    path.write_bytes(pickle.dumps(model_document(**changes)))
    with pytest.raises(CheckpointError, match=expected):
        read_model(path)


def test_a_value_that_would_fill_the_memory_or_is_very_deep_is_named_in_short(tmp_path):
    path, many, deep = tmp_path / "some.model", "x" * 20, []
    for _ in range(30):
        many = [many] * 10  # 10**30 texts, in a file of some hundred bytes
    for _ in range(400):
        deep = [deep]
    for value, expected in (
        (many, "asks for more memory than such a file needs"),
        (deep, r"hidsize is \[\[\[.{,80}, which is not a size of a network$"),
    ):
        path.write_bytes(pickle.dumps(model_document(hidsize=value)))
        with pytest.raises(CheckpointError, match=expected):
            read_model(path)


def test_what_is_no_model_file_says_so(tmp_path):
    path = tmp_path / "some.model"
    with pytest.raises(
        CheckpointError, match=r"some\.model cannot be read: No such file.*\nCheck the name of the \.model file"
    ):
        read_model(path)
    for data, expected in (
        (b"", "it ends in the middle"),
        (pickle.dumps({"a": 1})[:-1] + b"Q.", r"outside the file.*\nThe \.model file comes first, then the \.weights file"),
        (pickle.dumps(model_document())[:200], "it ends in the middle"),
        (pickle.dumps([1, 2]), r"does not hold the values of a \.model file"),
        (
            pickle.dumps({"model": {"args": {"net": {"args": {"conv3d_params": {}}}}}}),
            "there is no 'pi_head_opts'.*\n.*inverse dynamics",
        ),
        (pickle.dumps("x" * 400_000), r"does not hold the values of a \.model file"),
    ):
        path.write_bytes(data)
        with pytest.raises(CheckpointError, match=expected):
            read_model(path)


def test_weights_are_read_from_both_formats_of_torch(tmp_path):
    network = tiny_network()
    for zipped in (True, False):
        torch.save(network.state_dict(), tmp_path / "some.weights", _use_new_zipfile_serialization=zipped)
        again = build(TINY, read_weights(tmp_path / "some.weights"), where="some.weights")
        for name, tensor in network.state_dict().items():
            assert torch.equal(tensor, again.state_dict()[name]), name


def test_a_flipped_bit_of_weights_is_noticed(tmp_path):
    path = tmp_path / "some.weights"
    torch.save(tiny_network().state_dict(), path)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(CheckpointError, match=r"its part some/data/\d+ is damaged: the checksum does not fit"):
        read_weights(path)


def test_weights_that_do_not_fit_say_what_was_found(tmp_path):
    wide, weights = replace(TINY, hidsize=32, attention_heads=4), tiny_network().state_dict()
    with pytest.raises(CheckpointError, match=r"has shape .*expected .*\nThe weights have hidsize 16, the .model file has 32"):
        build(wide, weights, where="some.weights")
    fewer = {name: tensor for name, tensor in weights.items() if not name.startswith("pi_head.camera")}
    with pytest.raises(CheckpointError, match=r"2 tensors are missing, such as pi_head\.camera\.linear_layer\.bias"):
        build(TINY, fewer, where="some.weights")
    with pytest.raises(CheckpointError, match="1 tensors are unknown, such as more"):
        build(TINY, weights | {"more": torch.zeros(1)}, where="some.weights")
    path = tmp_path / "some.weights"
    with pytest.raises(CheckpointError, match="cannot be read: No such file"):
        read_weights(path)
    torch.save(weights, path)
    whole = path.read_bytes()
    for size in (len(whole) - 2000, 5000):
        path.write_bytes(whole[:size])
        with pytest.raises(CheckpointError, match=r"is not a file of weights: .*\nIt was cut off"):
            read_weights(path)
    torch.save([1, 2], path)
    with pytest.raises(CheckpointError, match="expected a mapping from names to tensors"):
        read_weights(path)
    name = "net.final_ln.weight"
    for odd in (
        torch.zeros(1).half().expand(1 << 40),  # a file of two kilobytes
        torch.zeros(16, dtype=torch.int8),
        torch.zeros(16).to_sparse(),
        torch.zeros(16, device="meta"),
    ):
        torch.save(weights | {name: odd}, path)
        with pytest.raises(CheckpointError, match=rf"{name} is of torch\..*; expected floating-point numbers that are all"):
            read_weights(path)
    torch.save(weights, tmp_path / "plain")
    with zipfile.ZipFile(tmp_path / "plain") as plain, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for part in plain.namelist():
            packed.writestr(part, plain.read(part))
    with pytest.raises(CheckpointError, match="it is compressed, which PyTorch never does"):
        read_weights(path)
    for odd in (torch.full((16,), float("nan")), torch.full((16,), 1e300, dtype=torch.float64)):
        with pytest.raises(CheckpointError, match=rf"{name} contains NaN or infinity; 1 of 134 tensors contain such numbers"):
            build(TINY, weights | {name: odd}, where="some.weights")


def test_weights_of_other_precision_and_shared_ones_are_those_of_an_agent(tmp_path):
    weights = tiny_network().state_dict()
    block = "net.recurrent_layer.blocks.0.r.orc_block"
    weights[f"{block}.k_layer.weight"] = weights[f"{block}.v_layer.weight"]
    network = build(TINY, {name: tensor.bfloat16() for name, tensor in weights.items()}, where="some.weights")
    save(tmp_path / "half", network, made_from=[])
    save(tmp_path / "shared", build(TINY, weights, where="some.weights"), made_from=[])
    half, shared = (load_network(tmp_path / name).state_dict() for name in ("half", "shared"))
    for name, tensor in weights.items():
        assert torch.equal(half[name], tensor.bfloat16().float())
        assert torch.equal(shared[name], tensor)


def test_an_import_that_a_full_disk_stopped_can_be_repeated(tmp_path):
    model, weights = write_files(tmp_path, tiny_network())
    folder, limits = tmp_path / "models" / "tiny", resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))
    try:
        with pytest.raises(
            VPTError, match=r"tiny cannot be written: .*File too large.*\nMake room, and run the same command again"
        ):
            import_files(model, weights, folder)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert not list(folder.iterdir())
    part_of(folder / "vpt.safetensors").write_bytes(b"half")  # as if it had been killed, then and later
    (folder / "vpt.safetensors").write_bytes(b"all")
    import_files(model, weights, folder)
    assert sorted(path.name for path in folder.iterdir()) == ["vpt.json", "vpt.safetensors"]
    load_network(folder)
    (tmp_path / "file").write_text("")
    with pytest.raises(VPTError, match="there is a model 'file'"):
        import_files(model, weights, tmp_path / "file")


def test_published_files_become_an_agent_of_the_data_folder(tmp_path, capsys):
    network = tiny_network()
    model, weights = write_files(tmp_path, network)
    command = ["agents", "import-vpt", str(model), str(weights), "--name", "tiny", "--data", str(tmp_path / "data")]
    with pytest.raises(SystemExit) as ended:
        main([*command, "--json"])
    assert ended.value.code == 0
    folder = tmp_path / "data" / "models" / "tiny"
    assert json.loads(capsys.readouterr().out)["folder"] == str(folder)
    assert sorted(path.name for path in folder.iterdir()) == ["vpt.json", "vpt.safetensors"]
    again = load_network(folder)
    assert again.architecture == TINY
    assert all(torch.equal(tensor, again.state_dict()[name]) for name, tensor in network.state_dict().items())
    archive = interplay.record.open(tmp_path / "data")
    assert (names(archive)[-1].name, names(archive)[-1].kind) == ("tiny", "vpt")
    assert find("tiny", archive).name == find(str(folder)).name == "tiny"
    archive.close()
    with pytest.raises(SystemExit) as ended:
        main(command)
    assert ended.value.code == 1
    assert "there is a model 'tiny'" in capsys.readouterr().err


def test_a_damaged_folder_says_what_is_wrong(tmp_path):
    folder = tmp_path / "data" / "models" / "tiny"
    model, weights = write_files(tmp_path, tiny_network())
    import_files(model, weights, folder)
    description, file = folder / "vpt.json", folder / "vpt.safetensors"
    document, data = json.loads(description.read_text()), file.read_bytes()
    for text, expected in (
        ("{", "is damaged"),
        (json.dumps(document | {"version": 7}), "is not of format 'interplay-vpt', version 1"),
        (json.dumps(document | {"sizes": 3}), "'sizes' is missing or is not a dict"),
        (json.dumps(document | {"sizes": {}}), "these sizes of a network are missing or unknown: attention_heads"),
    ):
        description.write_text(text)
        with pytest.raises(VPTError, match=expected):
            load_network(folder)
    description.write_text(json.dumps(document))
    file.write_bytes(data[:-4])
    with pytest.raises(VPTError, match=r"is not the file that vpt\.json describes: SHA-256"):
        load_network(folder)
    file.unlink()
    with pytest.raises(VPTError, match=r"vpt\.safetensors cannot be read: No such file"):
        find(str(folder))
    description.unlink()
    file.write_bytes(data)
    with pytest.raises(VPTError, match=r"vpt\.json is missing\nImport the published files again:  interplay agents import-vpt"):
        find(str(folder))
