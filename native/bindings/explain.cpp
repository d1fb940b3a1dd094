#include "native/bindings/forest.hpp"
#include "native/data/columns.hpp"
#include "native/explain/shapley.hpp"

namespace spinney::bindings {
namespace {

/// The player of each feature, empty for each its own, and how many players there are.
using GivenPlayers = std::pair<Array<std::int32_t>, std::size_t>;

Players players_of(const GivenPlayers& given) { return {view(given.first), given.second}; }

}  // namespace

void bind_explain(nb::module_& module) {
    module.def(
        "shapley_base", [](const Forest& forest) { return give(shapley_base(forest.arrays())); },
        "forest"_a, "Raw scores when no feature is known; (n_outputs).");

    module.def(
        "shapley_values",
        [](const Forest& forest, const Columns& table, const GivenPlayers& given, int n_threads) {
            const ForestArrays& arrays = forest.arrays();
            const Players players = players_of(given);
            std::vector<std::size_t> shape = {table.n_rows, players.n, arrays.n_outputs};
            std::vector<double> values(shape[0] * shape[1] * shape[2]);
            {
                nb::gil_scoped_release unlocked;  // pure C++: no Python object is touched
                shapley_values(arrays, table, players, values, n_threads);
            }
            return give(std::move(values), std::move(shape));
        },
        "forest"_a, "columns"_a, "players"_a, "n_threads"_a,
        "Path-dependent Shapley values; (n_rows, n_players, n_outputs).");

    module.def(
        "shapley_interactions",
        [](const Forest& forest, const Columns& table, const GivenPlayers& given, int n_threads) {
            const ForestArrays& arrays = forest.arrays();
            const Players players = players_of(given);
            std::vector<std::size_t> shape = {table.n_rows, players.n, players.n, arrays.n_outputs};
            std::vector<double> values(shape[0] * shape[1] * shape[2] * shape[3]);
            {
                nb::gil_scoped_release unlocked;
                shapley_interactions(arrays, table, players, values, n_threads);
            }
            return give(std::move(values), std::move(shape));
        },
        "forest"_a, "columns"_a, "players"_a, "n_threads"_a,
        "Shapley interactions; (n_rows, n_players, n_players, n_outputs).");

    module.def(
        "interventional_values",
        [](const Forest& forest, const Columns& table, const Columns& background,
           const Array<double>& shares, const GivenPlayers& given, int n_threads) {
            const ForestArrays& arrays = forest.arrays();
            const Players players = players_of(given);
            std::vector<std::size_t> shape = {table.n_rows, players.n, arrays.n_outputs};
            std::vector<double> values(shape[0] * shape[1] * shape[2]);
            {
                nb::gil_scoped_release unlocked;
                interventional_values(arrays, table, {background, view(shares)}, players, values,
                                      n_threads);
            }
            return give(std::move(values), std::move(shape));
        },
        "forest"_a, "columns"_a, "background"_a, "shares"_a, "players"_a, "n_threads"_a,
        "Shapley values against a background; (n_rows, n_players, n_outputs).");
}

}  // namespace spinney::bindings
