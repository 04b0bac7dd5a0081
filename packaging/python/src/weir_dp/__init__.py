"""Run weir, which releases differentially private synthetic tables, from Python.

The package holds the program ``weir`` and starts it; it computes nothing itself and reads
what ``--json`` prints. Paths are relative to the working directory of Python.

>>> import weir_dp
>>> run = weir_dp.run("study/pipeline.yaml")  # doctest: +SKIP
>>> run.table("sample")  # doctest: +SKIP
"""

from importlib.metadata import version

from weir_dp._errors import (
    DeclinedError,
    InterruptedRunError,
    MismatchError,
    PrivacyError,
    Problem,
    ProgramNotFoundError,
    SpecError,
    StageError,
    WeirError,
)
from weir_dp._experiment import Experiment, ExperimentInternal, Trial, experiment
from weir_dp._judge import Finding, Plan, Report, Verification, check, plan, verify
from weir_dp._program import program
from weir_dp._progress import Event
from weir_dp._run import Internal, Remark, Run, run
from weir_dp._sample import sample

__version__ = version("weir-dp")

__all__ = [
    "DeclinedError",
    "Event",
    "Experiment",
    "ExperimentInternal",
    "Finding",
    "Internal",
    "InterruptedRunError",
    "MismatchError",
    "Plan",
    "PrivacyError",
    "Problem",
    "ProgramNotFoundError",
    "Remark",
    "Report",
    "Run",
    "SpecError",
    "StageError",
    "Trial",
    "Verification",
    "WeirError",
    "check",
    "experiment",
    "plan",
    "program",
    "run",
    "sample",
    "verify",
]
