"""check, plan, sample and verify."""

from __future__ import annotations

from pathlib import Path

import pytest

import weir_dp


def test_a_sound_spec_checks(study: Path) -> None:
    report = weir_dp.check("study.yaml")
    assert report
    assert not report.problems
    assert not report.errors


def test_check_lists_every_fault_of_every_spec(study: Path) -> None:
    spec = (study / "study.yaml").read_text()
    (study / "other.yaml").write_text(spec.replace("seed: 3", "seed: many"))
    (study / "study.yaml").write_text(spec.replace("independent", "independant").replace("rows: 20", "rows: -1"))
    report = weir_dp.check("study.yaml", "other.yaml", "absent.yaml")
    assert not report
    assert {(problem.spec, problem.path, problem.line) for problem in report.problems} == {
        ("other.yaml", "seed", 5),
        ("study.yaml", "stages.train.kind", 8),
        ("study.yaml", "stages.sample.rows", 9),
    }
    assert [error.split(":")[0] for error in report.errors] == ["absent.yaml"]
    assert "other.yaml:5:7: seed: is " in str(report)
    assert "absent.yaml" in str(report)


def test_strict_refuses_warnings(study: Path) -> None:
    report = weir_dp.check("study.yaml")
    assert report.ok
    assert [finding for finding in report.findings if finding.level == "warning" and not finding.acknowledged]
    assert not weir_dp.check("study.yaml", strict=True)


def test_a_plan_says_what_it_would_charge(study: Path) -> None:
    plan = weir_dp.plan("study.yaml")
    assert plan.name == "study"
    assert plan.epsilon is not None
    assert plan.epsilon <= 1
    assert plan.charges == {"train": plan.epsilon}
    assert "train (independent)" in repr(plan)
    assert "epsilon 0.99967 (proven)" in repr(plan)


def test_a_plan_rounds_epsilon_upward() -> None:
    plan = weir_dp.Plan("study", 0.499873728, 1e-6, findings=(), charges={}, document={"stages": []})
    assert "epsilon 0.49988 (proven)" in repr(plan)


def test_a_plan_that_is_refused_lists_the_faults(study: Path) -> None:
    with pytest.raises(weir_dp.SpecError) as refused:
        weir_dp.plan("study.yaml", set={"seed": "many", "stages.train.kind": "independant"})
    assert {problem.path for problem in refused.value.problems} == {"seed", "stages.train.kind"}
    with pytest.raises(weir_dp.PrivacyError) as over:
        weir_dp.plan("study.yaml", set={"dataset.budget.epsilon": 0.5})
    assert over.value.code == 3
    assert [problem.path for problem in over.value.problems] == ["dataset.budget"]


def test_sample_draws_equal_rows_of_equal_seeds(finished: weir_dp.Run) -> None:
    drawn = weir_dp.sample(finished, 50, seed=2)
    assert drawn.num_rows == 50
    assert drawn.column_names == ["age", "ward", "outcome"]
    assert drawn.equals(weir_dp.sample(finished.release["train.model"], 50, seed=2))
    assert not drawn.equals(weir_dp.sample(finished, 50, seed=3))
    assert weir_dp.sample(finished, 0).num_rows == 0


def test_sample_keeps_to_conditions(finished: weir_dp.Run) -> None:
    drawn = weir_dp.sample(finished, 30, where={"ward": ["north", "south"], "age": "20..90"}, max_tries=100_000)
    assert set(drawn["ward"].to_pylist()) <= {"north", "south"}
    assert all(20 <= age <= 90 for age in drawn["age"].to_pylist())
    with pytest.raises(weir_dp.SpecError, match="--where"):
        weir_dp.sample(finished, 30, where={"ward": "west"})
    copies = weir_dp.sample(finished, 5, copies=3)["copy"].to_pylist()
    assert [copies.count(copy) for copy in sorted(set(copies))] == [5, 5, 5]


def test_what_is_no_model_is_an_error(study: Path) -> None:
    with pytest.raises(weir_dp.WeirError, match="patients.csv"):
        weir_dp.sample("patients.csv", 5)


def test_a_run_verifies_and_a_changed_one_does_not(study: Path) -> None:
    run = weir_dp.run("study.yaml", yes=True, progress=False)
    assert weir_dp.verify(run) == weir_dp.Verification((), ())
    assert any("epsilon" in line for line in weir_dp.verify(run.path, offline=True).holds)
    table = run.release["sample.csv"]
    table.write_text(table.read_text() + "1,north,no\n")
    with pytest.raises(weir_dp.MismatchError) as replayed:
        weir_dp.verify(run)
    assert replayed.value.code == 4
    assert any("sample.csv" in line for line in replayed.value.differ)
    with pytest.raises(weir_dp.MismatchError) as offline:
        weir_dp.verify(run, offline=True)
    assert any("sample.csv" in line for line in offline.value.differ)


def test_what_is_no_run_is_an_error(study: Path) -> None:
    with pytest.raises(weir_dp.SpecError, match="nowhere: "):
        weir_dp.verify("nowhere")


def test_categories_have_all_levels_in_their_order(study: Path) -> None:
    domain = (study / "domain.yaml").read_text()
    (study / "domain.yaml").write_text(domain.replace("ward, type: categorical", "ward, type: ordinal"))
    run = weir_dp.run("study.yaml", yes=True, progress=False)
    few = weir_dp.sample(run, 4, where={"ward": "south"})
    assert few["ward"].to_pylist() == ["south"] * 4
    for table in (run.table(), few, weir_dp.sample(run.release["train.model"], 3), weir_dp.sample(run, 0)):
        types = {name: table.schema.field(name).type for name in ("ward", "outcome")}
        assert (types["ward"].ordered, types["outcome"].ordered) == (True, False)
        for chunk in table["ward"].chunks:
            assert chunk.dictionary.to_pylist() == ["north", "south", "east"]
    assert list(run.frame()["ward"].cat.categories) == ["north", "south", "east"]
    moved = study / "moved.model"
    moved.write_bytes(run.release["train.model"].read_bytes())
    assert weir_dp.sample(moved, 4, where={"ward": "south"})["ward"].to_pylist() == ["south"] * 4
