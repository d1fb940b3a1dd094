"""Small files, and a way to run the command inside this process."""

import json
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from spinney.cli.__main__ import main

RNG = np.random.default_rng(5)


def customers(n_rows=240):
    """A table with every kind of column; ``churned`` depends on age and plan."""
    rng = np.random.default_rng(0)
    age = rng.integers(18, 80, n_rows)
    plan = rng.choice(["basic", "plus", "größer"], n_rows)
    chance = (age > 50) * 0.6 + (plan == "basic") * 0.3
    since = np.datetime64("2020-01-01") + rng.integers(0, 900, n_rows)
    income = rng.normal(3000, 500, n_rows)
    return pa.table(
        {
            "age": age,
            "plan": pa.array([None if i % 17 == 0 else p for i, p in enumerate(plan.tolist())]),
            "since": pa.array(since.astype("datetime64[D]").tolist(), pa.date32()),
            "income": pa.array([None if i % 11 == 0 else v for i, v in enumerate(income.tolist())]),
            "member": rng.random(n_rows) < 0.5,
            "churned": pa.array(np.where(rng.random(n_rows) < chance, "yes", "no").tolist()),
            "spent": income / 10 + age + rng.normal(0, 5, n_rows),
        }
    )


@dataclass
class Ran:
    """What a command did."""

    status: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


@pytest.fixture
def spinney(capsys):
    """Run ``spinney`` with these arguments."""

    def run(*arguments):
        capsys.readouterr()
        try:
            status = main([str(argument) for argument in arguments])
        except SystemExit as end:
            status = end.code
        said = capsys.readouterr()
        return Ran(status, said.out, said.err)

    return run


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    """A folder with the same table as CSV and Parquet, and models of it."""
    folder = tmp_path_factory.mktemp("cli")
    table = customers()
    csv.write_csv(table, folder / "customers.csv")
    parquet.write_table(table, folder / "customers.parquet")
    data = str(folder / "customers.csv")
    quiet = ["--quiet", "--set", "max_iter=20"]
    both = ["train", data, "--target", "churned", "--drop", "spent"]
    assert main([*both, "--out", str(folder / "churn.spn"), *quiet]) == 0
    assert main(["train", data, "-t", "spent", "-o", str(folder / "spent.spn"), *quiet]) == 0
    more = ["--model", "adaboost", "--set", "n_estimators=5", "--quiet"]
    assert main([*both, "-o", str(folder / "ada.spn"), *more]) == 0
    return folder
