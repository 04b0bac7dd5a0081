"""run: what is charged, asked, returned and shown."""

from __future__ import annotations

import builtins
import json
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import weir_dp
from weir_dp._run import upward


def test_a_run_returns_what_weir_prints(finished: weir_dp.Run) -> None:
    printed = json.loads((finished.path / "run.json").read_text())
    assert finished.epsilon == printed["terms"]["epsilon_proven"]
    assert finished.delta == 1e-6
    assert finished.name == "study"
    assert finished.id == printed["id"]
    assert not finished.reused
    assert len(finished.charged) == 1
    assert sorted(finished.release) == sorted(file.name for file in (finished.path / "release").iterdir())
    assert finished.tables == ("sample",)
    assert finished.bill.startswith("Bill of study")
    assert finished.promise.startswith("# Privacy of study")
    assert finished.ledger == finished.path.parents[2] / "patients.csv.weir-ledger.jsonl"


def test_a_folder_opens_as_the_run(finished: weir_dp.Run) -> None:
    opened = weir_dp.Run.open(finished.path)
    assert {**vars(opened), "reused": False} == vars(finished)


def test_tables_are_those_of_the_release(finished: weir_dp.Run) -> None:
    table = finished.table()
    assert table.num_rows == 20
    assert table.column_names == ["age", "ward", "outcome"]
    assert finished.table("sample").equals(table)
    written = (finished.path / "release" / "sample.csv").read_text().splitlines()[1:]
    assert [
        ",".join("" if cell is None else str(cell) for cell in row.values()) for row in table.to_pylist()
    ] == written
    assert list(finished.frame().columns) == table.column_names
    assert "count" in finished.table("train.marginals").column_names
    with pytest.raises(KeyError, match="is 'nothing', must be one of sample, train.marginals"):
        finished.table("nothing")


def test_without_pyarrow_tables_say_what_to_install(finished: weir_dp.Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(ImportError, match=r"pip install 'weir-dp\[arrow\]'"):
        finished.table()


def test_no_figure_is_shown_unasked(finished: weir_dp.Run) -> None:
    """Neither representations nor what is pickled hold a figure of private rows; asked for by name they are there."""
    figures = finished.internal.figures
    values = [text for text in map(repr, figures.values()) if len(text) > 10]  # no number by chance
    assert len(values) > 20
    shown = [repr(finished), str(finished), repr(finished.internal), repr(vars(finished)), str(pickle.dumps(finished))]
    for text in shown:
        assert not [value for value in values if value in text]
        assert "total_variation" not in text
    assert "epsilon 0.99967 (proven)" in repr(finished)


def test_epsilon_is_rounded_upward() -> None:
    rounded = [upward(epsilon) for epsilon in (1.0, 0.9996684011, 1.2790001, 12.00001, 3.0)]
    assert rounded == ["1", "0.99967", "1.2791", "12.001", "3"]


def test_nobody_to_ask_is_no(study: Path, charges: Callable[[], int]) -> None:
    with pytest.raises(weir_dp.DeclinedError, match="yes=True charges without asking") as declined:
        weir_dp.run("study.yaml", progress=False)
    assert declined.value.code == 130
    assert "new charge, epsilon 0.99967 alone" in declined.value.charge
    assert charges() == 0


@pytest.mark.parametrize(("answer", "charged"), [("y", 1), ("YES ", 1), ("n", 0), ("", 0)])
def test_a_person_is_asked(
    study: Path,
    charges: Callable[[], int],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    answer: str,
    charged: int,
) -> None:
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(builtins, "input", lambda prompt: answer)
    if charged:
        weir_dp.run("study.yaml", progress=False)
    else:
        with pytest.raises(weir_dp.DeclinedError):
            weir_dp.run("study.yaml", progress=False)
    assert "new charge, epsilon 0.99967 alone" in capsys.readouterr().out
    assert charges() == charged


def test_nothing_is_paid_twice(study: Path, charges: Callable[[], int]) -> None:
    first = weir_dp.run("study.yaml", yes=True, progress=False)
    again = weir_dp.run("study.yaml", progress=False)
    assert again.reused
    assert again.path == first.path
    more = weir_dp.run("study.yaml", set={"stages.sample.rows": 30, "stages.marginals": "off"}, progress=False)
    assert more.table().num_rows == 30
    assert more.reused_stages == {"train": first.id}
    assert weir_dp.Run.open(more.path).reused_stages == more.reused_stages
    assert charges() == 1


def test_every_fault_is_a_problem(study: Path) -> None:
    with pytest.raises(weir_dp.SpecError) as refused:
        weir_dp.run("study.yaml", set={"seed": "many", "stages.train.kind": "independant"}, progress=False)
    assert refused.value.code == 2
    assert {problem.path for problem in refused.value.problems} == {"seed", "stages.train.kind"}
    assert sorted(map(str, refused.value.problems)) == sorted(str(refused.value).splitlines())


def test_over_budget_is_refused(study: Path, charges: Callable[[], int]) -> None:
    with pytest.raises(weir_dp.PrivacyError, match="Nothing was charged"):
        weir_dp.run("study.yaml", set={"dataset.budget.epsilon": 0.5}, yes=True, progress=False)
    assert charges() == 0


def test_a_stage_that_fails_is_an_error(study: Path) -> None:
    (study / "patients.csv").write_text("age,ward,outcome\n34,north,no\n71,west,yes\n")
    with pytest.raises(weir_dp.StageError) as failed:
        weir_dp.run("study.yaml", set={"dataset.rows_public": 2}, yes=True, progress=False)
    assert failed.value.code == 1
    assert "west" not in str(failed.value)


def test_a_ledger_that_was_altered_is_a_mismatch(study: Path) -> None:
    weir_dp.run("study.yaml", yes=True, progress=False)
    ledger = study / "patients.csv.weir-ledger.jsonl"
    ledger.write_text(ledger.read_text().replace('"train"', '"trail"'))
    with pytest.raises(weir_dp.MismatchError) as failed:
        weir_dp.run("study.yaml", set={"seed": 4}, yes=True, progress=False)
    assert failed.value.code == 4


def test_events_reach_a_function(study: Path) -> None:
    heard: list[weir_dp.Event] = []
    weir_dp.run("study.yaml", yes=True, progress=heard.append)
    ended = {event.stage: event.how for event in heard if event.event == "end"}
    assert ended["train"] == ended["sample"] == ended["marginals"] == "done"
    assert not [event for event in heard if event.event in ("charge", "error")]


def test_a_function_that_fails_stops_the_run(study: Path, charges: Callable[[], int]) -> None:
    def fail(event: weir_dp.Event) -> None:
        if event.event == "charge":
            raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        weir_dp.run("study.yaml", progress=fail)
    assert charges() == 0


def test_an_interrupted_run_goes_on(study: Path, charges: Callable[[], int]) -> None:
    """An interruption stops weir in good order, and the same call goes on at no cost.

    A shell starts what stands in its background with interruptions ignored, so the script hears them again.
    """
    rows = "{'stages.sample.rows': 100_000_000, 'stages.marginals': 'off'}"
    heard = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    script = f"{heard}; import weir_dp; weir_dp.run('study.yaml', yes=True, set={rows})"
    with subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.PIPE, text=True) as process:
        while not charges() and process.poll() is None:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        assert process.stderr
        said = process.stderr.read()
    assert process.returncode != 0
    assert "KeyboardInterrupt: interrupted" in said
    assert weir_dp.run("study.yaml", progress=False).table().num_rows == 20
    assert charges() == 1


def test_an_experiment_is_not_one_run(study: Path, charges: Callable[[], int]) -> None:
    more = {"experiment.repeats": 2, "dataset.budget": None}
    with pytest.raises(ValueError, match="has an experiment, must be run by weir_dp.experiment"):
        weir_dp.run("study.yaml", set=more, yes=True, progress=False)
    with pytest.raises(ValueError, match="has no experiment, must be run by weir_dp.run"):
        weir_dp.experiment("study.yaml", yes=True, progress=False)
    with pytest.raises(weir_dp.DeclinedError):
        weir_dp.experiment("study.yaml", set=more, progress=False)
    assert charges() == 0
    done = weir_dp.experiment("study.yaml", set=more, yes=True, progress=False)
    assert [trial.repeat for trial in done.trials] == [0, 1]
    assert charges() == 2
    assert done.epsilon is not None
    assert done.epsilon > max(trial.run.epsilon or 0 for trial in done.trials)
    assert done.name == "study"
    assert "total_variation" not in repr(done) + str(pickle.dumps(done))
    assert done.internal.table().num_rows > 0
    assert set(done.internal.runs()["run"].to_pylist()) == {trial.run.id for trial in done.trials}


def test_calls_from_threads_do_not_meet(study: Path) -> None:
    plans: list[weir_dp.Plan] = []
    threads = [threading.Thread(target=lambda: plans.append(weir_dp.plan("study.yaml"))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(plans) == 4
