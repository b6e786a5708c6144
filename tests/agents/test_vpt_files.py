"""VPT's published files are read without running anything in them, and what does not fit is said in words."""

import json
import os
import pickle
from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from tiny_vpt import TINY, model_document, tiny_network, write_files  # noqa: E402

from interplay.agents import find, names  # noqa: E402
from interplay.agents.vpt.agent import load_network  # noqa: E402
from interplay.agents.vpt.checkpoint import CheckpointError, build, read_model, read_weights  # noqa: E402
from interplay.agents.vpt.folder import VPTError  # noqa: E402
from interplay.agents.vpt.network import WIDTHS  # noqa: E402
from interplay.cli import main  # noqa: E402


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
        CheckpointError, match=r"bad\.model is no \.model file of VPT: it names posix\.mkdir, .*Nothing was run"
    ):
        read_model(model)
    tensors = tiny_network().state_dict()
    for zipped in (True, False):
        torch.save(tensors | {"net.final_ln.bias": Harmful(trap)}, weights, _use_new_zipfile_serialization=zipped)
        with pytest.raises(
            CheckpointError, match=r"bad\.weights is no file of weights: .*\n.*Nothing in it was run\. Fetch it again"
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
        ({"hidsize": "big"}, "hidsize is 'big', which is no size of a network"),
        ({"hidsize": 17}, "these sizes do not fit each other"),
        ({"timesteps": 256}, "these sizes do not fit each other"),
        ({"img_shape": [128]}, "these sizes do not fit each other"),
        ({"impala_chans": 3}, "impala_chans is 3, which is no size"),
    ],
)
def test_a_model_file_of_another_network_says_what_is_other(tmp_path, changes, expected):
    path = tmp_path / "other.model"
    path.write_bytes(pickle.dumps(model_document(**changes)))
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
        (pickle.dumps(model_document())[:200], "it ends in the middle"),
        (pickle.dumps([1, 2]), r"not those of a \.model file"),
        (
            pickle.dumps({"model": {"args": {"net": {"args": {"conv3d_params": {}}}}}}),
            "there is no 'pi_head_opts'.*\n.*inverse dynamics",
        ),
        (pickle.dumps("x" * 400_000), "has 400,000 bytes"),
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


def test_weights_that_do_not_fit_say_what_was_found(tmp_path):
    wide, weights = replace(TINY, hidsize=32, attention_heads=4), tiny_network().state_dict()
    with pytest.raises(CheckpointError, match=r"has shape .*expected .*\nThese weights are of hidsize 16 and the sizes of 32"):
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
    path.write_bytes(path.read_bytes()[:-2000])
    with pytest.raises(CheckpointError, match="is no file of weights"):
        read_weights(path)
    torch.save([1, 2], path)
    with pytest.raises(CheckpointError, match="it holds no names with tensors"):
        read_weights(path)


def test_published_files_become_an_agent_of_the_data_folder(tmp_path, new_archive, capsys):
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
    archive = new_archive(tmp_path / "data")
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
    from interplay.agents.vpt.agent import import_files

    import_files(model, weights, folder)
    description, file = folder / "vpt.json", folder / "vpt.safetensors"
    document, data = json.loads(description.read_text()), file.read_bytes()
    for text, expected in (
        ("{", "is damaged"),
        (json.dumps(document | {"version": 7}), "is not of format 'interplay-vpt', version 1"),
        (json.dumps(document | {"sizes": 3}), "'sizes' is missing or no dict"),
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
