"""Dates as people write them: read if nobody reads them otherwise, and always in the same way."""

import pyarrow as pa
import pytest
from pyarrow import parquet

import spinney as library


def trained(spinney, folder, cells, *options):
    path, out = folder / "dates.csv", folder / "m.spn"
    quoted = [f'"{cell}"' if "," in cell else cell for cell in cells]
    lines = (f"{quoted[i % len(cells)]},{i % 2}\n" for i in range(40))
    path.write_text("when,y\n" + "".join(lines))
    done = spinney("train", path, "-t", "y", "-o", out, "--set", "max_iter=3", *options)
    assert done.status == 0, done.err
    (kind,) = (str(one) for one in library.load(out).model_.schema.kinds)
    return kind, done.err


@pytest.mark.parametrize(
    ("cells", "kind", "said"),
    [
        (("31/01/2020", "01/02/2021"), "date", ""),
        (("01/31/2020", "02/01/2021"), "date", ""),
        (("31.01.2020", "1.2.2021"), "date", ""),
        (("2020-01-31", "2021-02-01"), "date", ""),
        (("2020-01-31 10:00:00", "2021-02-01 11:30:00"), "datetime", ""),
        (("31.01.2020 10:30", "01.02.2021 11:00"), "datetime", ""),
        (("10:30:00", "11:45:10"), "duration", ""),
        (("3 Mar 2020", "14 Dec 2021"), "date", ""),
        (("01/02/2020", "03/04/2021"), "categorical", "--dates day-first"),
        (("01/02/20", "03/04/21"), "categorical", "--dates day-first"),
        (("01/31/20", "02/01/21"), "date", "'01/31/20' is 2020-01-31"),
        (("01/02/20", "13/04/21"), "date", "'01/02/20' is 2020-02-01"),
        (("31.01.20", "1.2.21"), "date", "dd.mm.yy, years from 1969 to 2068"),
        (("1/31/2020 2:05 PM", "2/1/2021 11:30 am"), "datetime", ""),
        (("2020-01", "2021-12"), "date", ""),
        (("2020.01.31", "2020.02.01"), "date", ""),
        (("3. 11. 2020", "14. 1. 2021"), "date", ""),
        (("Tue, 03 Nov 2020", "Wed, 04 Nov 2020"), "date", ""),
        (("20200131", "20210201"), "date", "20200131 are read as dates; --dates none"),
        (("20200131", "20210231"), "numeric", ""),
        (("10000101", "10000102"), "numeric", ""),
        (("1-2", "3-4"), "categorical", ""),
        (("1.2.3", "2.10.4"), "categorical", ""),
        (("31/02/2020", "01/02/2020"), "categorical", "look like dates, but no form fits"),
        (("Sept 3, 2020", "Sept 4, 2020"), "categorical", "'Sept 3, 2020' look like dates"),
        ((*["31/01/2020"] * 19, "not yet"), "categorical", "--missing 'not yet'"),
    ],
)
def test_dates_are_understood_or_it_is_said_that_they_are_not(cells, kind, said, spinney, tmp_path):
    found, remarks = trained(spinney, tmp_path, cells)
    assert (found, said in remarks) == (kind, True), remarks
    assert ("date" in remarks) == bool(said)


def test_dates_that_may_be_either_are_read_as_told(spinney, tmp_path):
    cells = ("01/02/2020", "02/03/2020")
    assert trained(spinney, tmp_path, cells, "--dates", "month-first")[0] == "date"
    assert trained(spinney, tmp_path, ("20200131", "20210201"), "--dates", "none")[0] == "numeric"
    assert trained(spinney, tmp_path, ("31.1.2020", "1.2.2021"), "--dates", "none")[0] == (
        "categorical"
    )


@pytest.mark.parametrize(
    ("learnt", "one", "iso"),
    [
        (("31/01/2020", "03/11/2020"), "03/11/2020", "2020-11-03"),
        (("01/31/2020", "03/11/2020"), "03/11/2020", "2020-03-11"),
        (("31/01/2020", "03/11/2020"), "5.11.2020", "2020-11-05"),
        (("20200131", "20201103"), "20201103", "2020-11-03"),
        (("1/31/20 2:05 PM", "3/11/20 3:10 PM"), "3/11/20 3:10 PM", "2020-03-11 15:10:00"),
    ],
)
def test_a_model_reads_dates_as_it_learnt_them(learnt, one, iso, spinney, tmp_path):
    trained(spinney, tmp_path, learnt)
    answers = []
    for cell in (one, iso):
        (tmp_path / "one.csv").write_text(f"when\n{cell}\n")
        done = spinney("predict", tmp_path / "m.spn", tmp_path / "one.csv")
        assert done.status == 0, done.err
        answers.append(done.out)
    assert answers[0] == answers[1]


@pytest.mark.parametrize(
    ("cell", "options", "said"),
    [
        ("12/31/2020", (), "'12/31/2020' is no date written dd/mm/yyyy"),
        ("soon", (), "'soon' is no date written dd/mm/yyyy"),
        ("03/11/2020", ("--dates", "month-first"), "the model learnt 'when' as dates written dd"),
        ("03/11/2020", ("--dates", "none"), "Leave --dates away"),
    ],
)
def test_dates_that_contradict_the_model_are_refused(cell, options, said, spinney, tmp_path):
    trained(spinney, tmp_path, ("31/01/2020", "03/11/2020"))
    (tmp_path / "one.csv").write_text(f"when\n{cell}\n")
    done = spinney("predict", tmp_path / "m.spn", tmp_path / "one.csv", *options)
    assert (done.status, said in done.err) == (1, True), done.err
    same = spinney("predict", tmp_path / "m.spn", tmp_path / "dates.csv", "--dates", "day-first")
    assert same.status == 0, same.err


def test_numbers_of_a_model_never_become_dates(spinney, tmp_path):
    lines = "".join(f"{20200100 + i},{i % 2}\n" for i in range(60))  # no 40th of January
    (tmp_path / "d.csv").write_text("n,y\n" + lines)
    out = tmp_path / "m.spn"
    assert spinney("train", tmp_path / "d.csv", "-t", "y", "-o", out).status == 0
    (tmp_path / "one.csv").write_text("n\n20200131\n")
    done = spinney("predict", out, tmp_path / "one.csv")
    assert done.status == 0, done.err
    table = pa.table({"n": [20200131] * 20 + [20200201] * 20, "y": [0, 1] * 20})
    parquet.write_table(table, tmp_path / "typed.parquet")  # its types are known
    done = spinney("train", tmp_path / "typed.parquet", "-t", "y", "-o", out)
    assert str(library.load(out).model_.schema.kinds[0]) == "numeric"


def test_test_files_and_categories_are_read_as_in_training(spinney, tmp_path):
    trained(spinney, tmp_path, ("31/01/2020", "03/11/2020"))
    (tmp_path / "test.csv").write_text("when,y\n03/11/2020,0\n04/11/2020,1\n")
    done = spinney(
        *("train", tmp_path / "dates.csv", "-t", "y", "-o", tmp_path / "m.spn"),
        *("--test", tmp_path / "test.csv", "--json"),
    )
    assert (done.status, done.json["n_test"]) == (0, 2), done.err
    options = ("--categorical", "when", "--set", "max_iter=3")
    assert trained(spinney, tmp_path, ("31/01/2020", "1.50"), *options)[0] == "categorical"
    levels = library.load(tmp_path / "m.spn").model_.schema.levels[0]
    assert sorted(levels.values) == ["1.50", "31/01/2020"]
