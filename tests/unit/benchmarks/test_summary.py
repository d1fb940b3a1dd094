"""What the comparison of defaults counts, and for whom."""

from benchmarks.defaults.summary import compared, cpu_seconds, is_endless, mean_losses, told
from benchmarks.defaults.tables import chose_settings

CONTENDERS = ["ours", "peer"]


def line(contender, fold, loss, seconds=1.0, error=""):
    return {
        "table": "rivers",
        "fold": str(fold),
        "contender": contender,
        "version": "1",
        "loss": str(loss),
        "constant_loss": "1.0",
        "fit_cpu_seconds": str(seconds),
        "error": error,
    }


def test_folds_that_one_contender_has_not_tried_cost_nobody_seconds():
    lines = [line("ours", 0, 0.1, 3.0), line("peer", 0, 0.2, 5.0), line("ours", 1, 0.1, 7.0)]
    cells = compared(lines, CONTENDERS)
    assert cpu_seconds(cells, CONTENDERS) == {"ours": 3.0, "peer": 5.0}
    assert list(cells) == [("rivers", "0")]


def test_folds_that_our_default_was_chosen_on_do_not_count():
    of_development = [name for name in "abcdefgh" if chose_settings(name, 1)]
    assert 0 < len(of_development) < 8
    assert not any(chose_settings(name, fold) for name in "abcdefgh" for fold in (0, 2, 3, 4))
    lines = [
        {**line(contender, fold, 0.1), "table": name}
        for contender in CONTENDERS
        for fold in (0, 1)
        for name in "abcdefgh"
    ]
    counted = set(compared(lines, CONTENDERS))
    assert counted == {(name, str(fold)) for name in "abcdefgh" for fold in (0, 1)} - {
        (name, "1") for name in of_development
    }


def test_folds_where_a_fit_was_ended_count_for_nobody_and_are_named():
    ended = line("peer", 1, "nan", "", "took longer than 900 CPU seconds")
    lines = [line("ours", 0, 0.1), line("peer", 0, 0.2), line("ours", 1, 0.5), ended]
    assert is_endless(ended)
    losses = mean_losses(compared(lines, CONTENDERS), CONTENDERS)
    assert losses["rivers"].tolist() == [0.1, 0.2, 1.0]
    assert "peer on fold 1 of rivers" in told(lines)


def test_a_fit_that_fails_costs_what_the_constant_does():
    failed = line("peer", 0, "nan", "", "ValueError: no")
    losses = mean_losses(compared([line("ours", 0, 0.1), failed], CONTENDERS), CONTENDERS)
    assert losses["rivers"].tolist() == [0.1, 1.0, 1.0]
