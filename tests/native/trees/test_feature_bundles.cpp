#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <vector>

#include "native/base/random.hpp"
#include "native/trees/gradient_grower.hpp"
#include "tests/native/check.hpp"

namespace {

using spinney::BinCounts;
using spinney::Bundling;
using spinney::FeaturePlace;
using spinney::random_below;
using spinney::Stream;
using spinney::TrainingBins;

/// Rows that are in the usual bin of most features, in any of some bins elsewhere.
struct MostlyUsual {
    std::size_t n_rows;
    std::size_t n_features;
    std::vector<std::uint8_t> bins;
    std::vector<std::int32_t> n_value_bins;
    std::vector<std::uint8_t> categorical;

    MostlyUsual(std::size_t rows, std::size_t features, std::uint64_t seed, std::uint64_t per_row)
        : n_rows(rows), n_features(features), bins(rows * features), categorical(features, 0) {
        for (std::size_t f = 0; f < n_features; ++f) {
            n_value_bins.push_back(f % 11 == 7 ? 255 : 2 + static_cast<std::int32_t>(f % 7));
            for (std::size_t row = 0; row < n_rows; ++row) at(row, f) = usual(f);
        }
        for (std::size_t i = 0; i < n_rows * per_row; ++i) {
            const std::size_t f = random_below(seed, Stream::kRows, 2 * i, n_features);
            const auto n_bins = static_cast<std::uint64_t>(n_value_bins[f]) + 1;
            at(i / per_row, f) =
                static_cast<std::uint8_t>(random_below(seed, Stream::kRows, 2 * i + 1, n_bins));
        }
    }
    std::uint8_t& at(std::size_t row, std::size_t f) { return bins[row * n_features + f]; }
    std::uint8_t usual(std::size_t f) const {
        return static_cast<std::uint8_t>(f % 3 == 0 ? 0 : f % 3 == 1 ? 1 : n_value_bins[f]);
    }
    TrainingBins training_bins(Bundling bundling, int n_threads = 1) const {
        return {bins, n_value_bins, categorical, n_threads, bundling};
    }
};

}  // namespace

TEST(counts_know_the_fullest_bin_and_the_last_one) {
    const std::vector<std::size_t> rows_of_bin = {3, 7, 0, 7, 1, 0};
    const BinCounts counts = BinCounts::of(rows_of_bin);
    CHECK(counts.n_bins == 5 && counts.usual == 1);
    CHECK(counts.n_usual == 7 && counts.most_elsewhere == 7);
    const BinCounts none = BinCounts::of({});
    CHECK(none.n_bins == 1 && none.n_usual == 0);
}

TEST(rows_outside_a_bin_are_marked) {
    for (const std::size_t n_rows : {0UL, 1UL, 7UL, 8UL, 63UL, 64UL, 65UL, 1003UL}) {
        std::vector<std::uint8_t> bins(n_rows);
        for (std::size_t row = 0; row < n_rows; ++row) {
            const auto drawn = random_below(5, Stream::kRows, row, 3);
            bins[row] = static_cast<std::uint8_t>(drawn == 0 ? 128 : drawn == 1 ? 129 : 1);
        }
        for (const std::uint8_t usual : {0, 1, 128, 129, 255}) {
            std::vector<std::uint64_t> away(n_rows / 64 + 1, 0);
            spinney::mark_away(bins.data(), n_rows, usual, away);
            std::size_t n_marked = 0;
            for (const std::uint64_t word : away) n_marked += std::popcount(word);
            std::size_t n_away = 0;
            for (const std::uint8_t bin : bins) n_away += bin != usual ? 1 : 0;
            CHECK(n_marked == n_away);
            for (std::size_t eight = 0; eight + 8 <= n_rows; eight += 8) {
                // The order within eight rows is the machine's.
                const auto marked = (away[eight / 64] >> (eight % 64)) & 0xFF;
                const auto n = std::count_if(bins.begin() + static_cast<std::ptrdiff_t>(eight),
                                             bins.begin() + static_cast<std::ptrdiff_t>(eight + 8),
                                             [usual](std::uint8_t bin) { return bin != usual; });
                CHECK(std::popcount(marked) == n);
            }
        }
    }
}

TEST(features_of_a_bundle_are_exclusive_and_fit_a_byte) {
    for (const std::uint64_t per_row : {1, 2, 6}) {
        const MostlyUsual table(900, 150, per_row, per_row);
        const TrainingBins data = table.training_bins(Bundling::kAlways);
        CHECK(data.has_bundles() && data.n_bundles() < 150);
        std::vector<int> seen(150, 0);
        for (std::size_t b = 0; b < data.n_bundles(); ++b) {
            const auto& features = data.bundle(b).features;
            CHECK(data.bundle(b).n_codes <= spinney::kMostCodes);
            CHECK(std::is_sorted(features.begin(), features.end()));
            for (const std::uint32_t feature : features) ++seen[feature];
            if (features.size() == 1) continue;
            for (std::size_t row = 0; row < 900; ++row) {
                const auto n_away =
                    std::count_if(features.begin(), features.end(), [&](std::uint32_t feature) {
                        return table.bins[row * 150 + feature] != data.place(feature).usual;
                    });
                CHECK(n_away <= 1);
            }
        }
        CHECK(std::all_of(seen.begin(), seen.end(), [](int times) { return times == 1; }));
    }
}

TEST(codes_of_bundles_are_bins_again) {
    for (const std::uint64_t per_row : {1, 3}) {
        const MostlyUsual table(2000, 90, 40 + per_row, per_row);
        for (const Bundling bundling : {Bundling::kAlways, Bundling::kNever}) {
            const TrainingBins data = table.training_bins(bundling, 2);
            CHECK(data.has_bundles() == (bundling == Bundling::kAlways));
            for (std::size_t f = 0; f < 90; ++f) {
                const FeaturePlace& place = data.place(f);
                for (std::size_t row = 0; row < 2000; ++row) {
                    const std::uint8_t code = data.codes(place.bundle)[row];
                    CHECK(place.bin(code) == table.bins[row * 90 + f]);
                    CHECK(data.plain().rows[row * data.n_bundles() + place.bundle] == code);
                }
                for (std::size_t bin = 0; bin < place.n_bins; ++bin) {
                    CHECK(place.bin(place.code(bin)) == bin);
                }
            }
        }
    }
}

TEST(sparse_bins_have_the_codes_of_dense_ones) {
    const MostlyUsual table(2000, 60, 3, 2);
    for (const int zero_bin : {0, 1, 2}) {  // the usual bin of a third of the features
        spinney::SparseBins listed{2000, std::vector<spinney::SparseBins::Feature>(60)};
        for (std::size_t f = 0; f < 60; ++f) {
            listed.features[f].zero_bin = static_cast<std::uint8_t>(zero_bin);
            for (std::size_t row = 0; row < 2000; ++row) {
                const std::uint8_t bin = table.bins[row * 60 + f];
                if (bin == zero_bin) continue;
                listed.features[f].rows.push_back(static_cast<std::int32_t>(row));
                listed.features[f].bins.push_back(bin);
            }
        }
        std::vector<std::uint8_t> filled(2000 * 60);
        listed.fill(filled, 2);
        CHECK(filled == table.bins);
        for (const Bundling bundling : {Bundling::kAlways, Bundling::kNever}) {
            const TrainingBins dense = table.training_bins(bundling);
            const TrainingBins sparse(listed, table.n_value_bins, table.categorical, 2, bundling);
            CHECK(sparse.n_bundles() == dense.n_bundles());
            for (std::size_t b = 0; b < dense.n_bundles(); ++b) {
                CHECK(sparse.bundle(b).features == dense.bundle(b).features);
                CHECK(sparse.most_in_cell(b) == dense.most_in_cell(b));
                CHECK(std::equal(sparse.codes(b), sparse.codes(b) + 2000, dense.codes(b)));
            }
            const std::size_t n_bytes = 2000 * dense.n_bundles();
            CHECK(
                std::equal(sparse.plain().rows, sparse.plain().rows + n_bytes, dense.plain().rows));
        }
    }
}

TEST(bundles_do_not_depend_on_threads) {
    const MostlyUsual table(3000, 200, 9, 4);
    const TrainingBins one = table.training_bins(Bundling::kAlways, 1);
    const TrainingBins four = table.training_bins(Bundling::kAlways, 4);
    CHECK(one.n_bundles() == four.n_bundles());
    for (std::size_t b = 0; b < one.n_bundles(); ++b) {
        CHECK(one.bundle(b).features == four.bundle(b).features);
    }
}

TEST(a_feature_of_every_bin_shares_with_constants_alone) {
    // 255 bins of values and missing values: with code 0 they fill the byte.
    MostlyUsual table(3000, 3, 1, 1);
    table.n_value_bins = {255, 2, 2};
    for (std::size_t row = 0; row < 3000; ++row) {
        table.at(row, 0) = static_cast<std::uint8_t>(row < 256 ? row : 0);
        table.at(row, 1) = row == 2999 ? 1 : 0;
        table.at(row, 2) = 0;
    }
    const TrainingBins data = table.training_bins(Bundling::kAlways);
    CHECK(data.n_bundles() == 2);
    CHECK(!data.bundle(0).is_shared() && data.bundle(0).features[0] == 1);
    CHECK(data.bundle(1).n_codes == 256);
    for (std::size_t row = 0; row < 3000; ++row) {
        CHECK(data.place(0).bin(data.codes(1)[row]) == table.at(row, 0));
        CHECK(data.place(2).bin(data.codes(1)[row]) == 0);
    }
}

TEST(bundled_histograms_grow_the_trees_of_plain_ones) {
    for (const std::size_t n_rows : {400UL, 3000UL, 30000UL}) {
        const MostlyUsual table(n_rows, 60, n_rows, 1);
        std::vector<float> gradients(n_rows);
        std::vector<float> hessians(n_rows);
        for (std::size_t row = 0; row < n_rows; ++row) {
            const double signal = table.bins[row * 60] > 0 ? 0.4 : -0.1;
            gradients[row] =
                static_cast<float>(signal + spinney::random_unit(2, Stream::kRows, row) - 0.5);
            hessians[row] = static_cast<float>(spinney::random_unit(3, Stream::kRows, row));
        }
        for (const bool with_hessians : {false, true}) {
            const spinney::GradientInput input = {
                gradients,
                with_hessians ? std::span<const float>(hessians) : std::span<const float>{},
                {},
                true,
                1.0};
            spinney::GradientGrower plain(table.training_bins(Bundling::kNever), 1);
            const auto expected = plain.grow(input, {}, {});
            for (const int n_threads : {1, 3}) {
                spinney::GradientGrower bundled(table.training_bins(Bundling::kAlways, n_threads),
                                                n_threads);
                CHECK(bundled.bins().has_bundles());
                const auto tree = bundled.grow(input, {}, {});
                CHECK(tree.feature == expected.feature && tree.bin == expected.bin);
                CHECK(tree.values == expected.values && tree.gain == expected.gain);
            }
        }
    }
}

CHECK_MAIN
