"""What weir_dp promises by name (docs/stability.md), and what arguments may be."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import weir_dp

# Names and arguments of 0.1, which later versions may add to.
CALLS = {
    "check": "*specs set strict out ledger confine",
    "experiment": "spec set out ledger fresh confine drop_noise_key workers insecure_noise_seed yes progress",
    "plan": "spec set out ledger confine",
    "program": "",
    "run": "spec set out ledger fresh locked confine drop_noise_key workers insecure_noise_seed yes progress",
    "sample": "model n seed where max_tries copies step argmax",
    "verify": "release offline key workers",
}

ATTRIBUTES = {
    "Event": "event stage done total how text document",
    "Experiment": "name trials bill internal epsilon",
    "ExperimentInternal": "folder table runs",
    "Finding": "rule level message file line fix acknowledged",
    "Internal": "folder figures notes files report",
    "Plan": "name epsilon delta findings charges document",
    "Problem": "spec file line column path found accepted hint rule stage",
    "Remark": "stage text",
    "Report": "ok problems errors findings",
    "Run": "path epsilon epsilon_published delta release charged reused reused_stages remarks ledger not_private "
    "open name id tables table frame bill promise internal",
    "Trial": "cell set repeat run",
    "Verification": "holds unchecked",
}

ERRORS = (
    "WeirError StageError SpecError PrivacyError MismatchError InterruptedRunError DeclinedError ProgramNotFoundError"
)


def test_names_and_arguments_stay() -> None:
    assert {*CALLS, *ATTRIBUTES, *ERRORS.split()} <= set(weir_dp.__all__)
    for name, arguments in CALLS.items():
        parameters = inspect.signature(getattr(weir_dp, name)).parameters
        assert {argument.lstrip("*") for argument in arguments.split()} <= set(parameters), name
    for name, attributes in ATTRIBUTES.items():
        kind = getattr(weir_dp, name)
        assert set(attributes.split()) <= {*dir(kind), *kind.__dataclass_fields__}, name
    for name in ERRORS.split()[:-1]:
        assert issubclass(getattr(weir_dp, name), weir_dp.WeirError)


@pytest.mark.parametrize("value", [0, 1, "no", "", None, 0.0])
@pytest.mark.parametrize("name", ["yes", "fresh", "locked", "confine", "drop_noise_key"])
def test_what_is_merely_true_sets_no_flag(study: Path, charges: Callable[[], int], name: str, value: Any) -> None:
    with pytest.raises(TypeError, match=f"{name}: is .*, must be True or False"):
        weir_dp.run("study.yaml", progress=False, **{name: value})
    assert charges() == 0


@pytest.mark.parametrize(
    "call",
    [
        lambda: weir_dp.run("study.yaml", workers=True),
        lambda: weir_dp.run("study.yaml", out=3),  # type: ignore[arg-type]
        lambda: weir_dp.run("study.yaml", set={"seed": object()}),
        lambda: weir_dp.run("study.yaml", set={"privacy.epsilon": float("nan")}),
        lambda: weir_dp.check("study.yaml", strict="no"),  # type: ignore[arg-type]
        lambda: weir_dp.plan("study.yaml", confine=0),  # type: ignore[arg-type]
        lambda: weir_dp.verify("study.yaml", offline=0),  # type: ignore[arg-type]
        lambda: weir_dp.sample("study.yaml", 1.5),  # type: ignore[arg-type]
        lambda: weir_dp.sample("study.yaml", 1, argmax=1),  # type: ignore[arg-type]
        lambda: weir_dp.experiment("study.yaml", yes="no"),  # type: ignore[arg-type]
    ],
)
def test_arguments_of_another_type_are_refused(study: Path, call: Callable[[], object]) -> None:
    with pytest.raises(TypeError, match=r"^\w+: .*is .*, must be "):
        call()


def test_infinity_is_a_value_of_a_setting(study: Path) -> None:
    more = {"privacy.epsilon": float("inf"), "privacy.claims": "none", "dataset.budget": None}
    assert weir_dp.plan("study.yaml", set=more).epsilon is None
