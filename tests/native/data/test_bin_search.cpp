#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "native/base/isa.hpp"
#include "tests/native/data/bin_search_cases.hpp"

namespace {

using spinney::Isa;

std::size_t n_grids = 0;

/// By a grid where cuts allow one.
template <class T, spinney::GridSearch<T>* kSearch>
void bin_search_by_grid(const spinney::BinTask<T>& task) {
    const std::size_t n_cuts = static_cast<std::size_t>(task.missing_bin) - 1;
    const spinney::CutGrid<T> grid({task.table->cuts, n_cuts});
    n_grids += grid.empty() ? 0 : 1;
    grid.empty() ? spinney::bin_search_portable(task) : kSearch(task, grid.tables());
}

template <class T>
std::vector<spinney::BinSearch<T>*> runnable_kernels() {
    std::vector<spinney::BinSearch<T>*> kernels = {
        spinney::bin_search_portable, bin_search_by_grid<T, spinney::bin_search_grid_portable>};
#if defined(__x86_64__) && defined(__GNUC__)
    if (spinney::best_isa() >= Isa::kAvx2) {
        kernels.push_back(spinney::bin_search_avx2);
        kernels.push_back(bin_search_by_grid<T, spinney::bin_search_grid_avx2>);
    }
    if (spinney::best_isa() >= Isa::kAvx512) {
        kernels.push_back(spinney::bin_search_avx512);
        kernels.push_back(bin_search_by_grid<T, spinney::bin_search_grid_avx512>);
    }
#endif
    return kernels;
}

template <class T>
spinney::ColumnView column_of(const std::vector<T>& values) {
    spinney::ColumnView column;
    column.type = sizeof(T) == 4 ? spinney::ValueType::kFloat32 : spinney::ValueType::kFloat64;
    column.data = reinterpret_cast<const std::byte*>(values.data());
    column.stride = sizeof(T);
    return column;
}

}  // namespace

TEST(the_best_instruction_set_is_named) {
    // Not a check: the log must show which kernels the run was about.
    std::printf("     kernels up to %s\n", spinney::isa_name(spinney::best_isa()));
    CHECK(!runnable_kernels<float>().empty());
}

TEST(kernels_count_as_a_plain_loop_does_for_every_number_of_cuts) {
    for (auto* kernel : runnable_kernels<float>()) cases::check_all_cut_counts<float>(kernel, 300);
    for (auto* kernel : runnable_kernels<double>())
        cases::check_all_cut_counts<double>(kernel, 300);
}

TEST(kernels_handle_every_length_and_alignment) {
    for (auto* kernel : runnable_kernels<float>()) cases::check_all_lengths<float>(kernel);
    for (auto* kernel : runnable_kernels<double>()) cases::check_all_lengths<double>(kernel);
}

TEST(kernels_follow_strides) {
    for (auto* kernel : runnable_kernels<float>()) cases::check_strides<float>(kernel);
    for (auto* kernel : runnable_kernels<double>()) cases::check_strides<double>(kernel);
}

TEST(kernels_agree_on_zeros_infinities_and_nan) {
    for (auto* kernel : runnable_kernels<float>()) cases::check_special_values<float>(kernel);
    for (auto* kernel : runnable_kernels<double>()) cases::check_special_values<double>(kernel);
}

TEST(grids_were_among_the_kernels) { CHECK(n_grids > 1000); }

TEST(grids_suit_bell_shapes_and_many_magnitudes_and_give_way_to_clusters) {
    std::vector<double> bell, lognormal, clusters;
    for (int i = 1; i < 200; ++i) {
        bell.push_back(std::log(i / (200.0 - i)));
        lognormal.push_back(std::exp(3 * bell.back()));
        clusters.push_back(i < 100 ? i : 1e9 + i);
    }
    const spinney::CutGrid<double> of_bell{bell}, of_lognormal{lognormal}, of_clusters{clusters};
    CHECK(!of_bell.empty() && of_bell.tables().is_linear && of_bell.tables().n_steps == 1);
    CHECK(!of_lognormal.empty() && !of_lognormal.tables().is_linear);
    CHECK(of_clusters.empty());
}

TEST(every_instruction_set_gives_the_same_bins) {
    // Through the public door, so that choosing the kernel is part of the test.
    constexpr std::size_t kRows = 5000;
    cases::Draws draws(77);
    std::vector<spinney::FeatureBins> mapper;
    std::vector<std::vector<float>> narrow;
    std::vector<std::vector<double>> wide;
    for (std::size_t n_cuts = 0; n_cuts <= cases::kMaxCuts; n_cuts += 23) {
        const auto cuts = cases::make_cuts(cases::Style::kAnyFloat32, n_cuts, draws);
        mapper.insert(mapper.end(), 2, spinney::FeatureBins::numeric(cuts));
        narrow.push_back(cases::make_values<float>(cuts, kRows, draws));
        wide.push_back(cases::make_values<double>(cuts, kRows, draws));
    }
    spinney::Columns columns{kRows, {}};
    for (std::size_t i = 0; i < narrow.size(); ++i) {
        columns.features.push_back(column_of(narrow[i]));
        columns.features.push_back(column_of(wide[i]));
    }
    std::vector<std::vector<std::uint8_t>> results;
    for (const Isa isa : {Isa::kPortable, Isa::kAvx2, Isa::kAvx512}) {
        if (isa > spinney::best_isa()) continue;
        spinney::use_isa(isa);
        results.emplace_back(kRows * mapper.size(), cases::kUntouched);
        spinney::bin_columns(columns, mapper, results.back(), 1);
    }
    for (const auto& bins : results) CHECK(bins == results.front());
    // A missing value lies behind the value bins, whatever the kernel said of it.
    for (std::size_t i = 0; i < kRows; ++i) {
        const std::uint8_t bin = results.front()[i * mapper.size()];
        CHECK((bin == mapper[0].missing_bin()) == std::isnan(narrow[0][i]));
    }
}

CHECK_MAIN
