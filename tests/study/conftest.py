"""What the tests of study commands share: a folder with a study file in it, and the study opened there."""

import pytest
from fake_mturk import KEY_ID, SECRET, FakeMTurk

import interplay.record
from interplay.cli import _run


@pytest.fixture
def run(request, tmp_path, capsys, monkeypatch):
    """Runs one command line in a folder of its own, which holds the module's `STUDY`: status, standard output and error."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "caves.toml").write_text(request.module.STUDY)

    def run(line: str):
        status = _run(["study", *line.split()])
        said = capsys.readouterr()
        return status, said.out, said.err

    return run


@pytest.fixture
def opened(run, tmp_path):
    """The study, open; its archive."""
    assert run("open caves.toml")[0] == 0
    archive = interplay.record.open(tmp_path / "interplay-data")
    yield archive
    archive.close()


@pytest.fixture
def mturk(monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY_ID)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    with FakeMTurk() as platform:
        yield platform
