#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <set>
#include <vector>

#include "native/base/random.hpp"
#include "native/data/quantile_cuts.hpp"
#include "native/data/radix_sort.hpp"
#include "tests/native/check.hpp"

using spinney::Columns;
using spinney::ColumnView;
using spinney::cut_between;
using spinney::CutSettings;
using spinney::find_cuts;
using spinney::random_below;
using spinney::random_bits;
using spinney::random_unit;
using spinney::Stream;

namespace {

using Cuts = std::vector<double>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
constexpr float kLargest = std::numeric_limits<float>::max();
constexpr std::size_t kAllRows = 1'000'000;

template <class T>
ColumnView dense(const std::vector<T>& values) {
    ColumnView column;
    column.type = sizeof(T) == 4 ? spinney::ValueType::kFloat32 : spinney::ValueType::kFloat64;
    column.data = reinterpret_cast<const std::byte*>(values.data());
    column.stride = sizeof(T);
    return column;
}

/// A sparse copy of a dense column; every seventh zero is listed all the same, as it may be.
template <class T>
struct SparseCopy {
    std::vector<T> stored;
    std::vector<std::int32_t> rows;

    explicit SparseCopy(const std::vector<T>& values) {
        for (std::size_t row = 0; row < values.size(); ++row) {
            if (values[row] == 0 && row % 7 != 0) continue;
            stored.push_back(values[row]);
            rows.push_back(static_cast<std::int32_t>(row));
        }
    }

    ColumnView view() const {
        ColumnView column = dense(stored);
        column.stride = 0;
        column.rows = rows;
        column.is_sparse = true;
        return column;
    }
};

Cuts cuts_of_one(const ColumnView& column, std::size_t n_rows,
                 const std::vector<std::int64_t>& weights, int max_bins,
                 std::size_t sample_rows = kAllRows) {
    return find_cuts(Columns{n_rows, {column}}, weights, CutSettings{max_bins, sample_rows}, 1)[0];
}

/// The rule of find_cuts() again, by looking through all rows for every number it needs.
Cuts plain_cuts(const std::vector<double>& values, const std::vector<std::int64_t>& weights,
                int max_bins) {
    const auto weight_within = [&](double low, double high) {
        std::int64_t sum = 0;
        for (std::size_t i = 0; i < values.size(); ++i) {
            if (values[i] >= low && values[i] <= high) sum += weights.empty() ? 1 : weights[i];
        }
        return sum;
    };
    std::set<double> distinct;
    for (const double value : values) {
        if (!std::isnan(value)) distinct.insert(value);
    }
    const std::vector<double> steps(distinct.begin(), distinct.end());
    Cuts cuts;
    std::size_t open = 0;  // first value of the bin being filled
    std::int64_t bins_left = max_bins;
    for (std::size_t i = 1; i < steps.size() && bins_left > 1; ++i) {
        // Distances to the fair share, times bins_left to stay with integers.
        const std::int64_t share = weight_within(steps[open], steps.back());
        const std::int64_t without = weight_within(steps[open], steps[i - 1]) * bins_left;
        const std::int64_t with = weight_within(steps[open], steps[i]) * bins_left;
        const bool is_nearer = std::abs(without - share) <= std::abs(with - share);
        const bool rest_fits = static_cast<std::int64_t>(steps.size() - i) <= bins_left - 1;
        if (!is_nearer && !rest_fits) continue;
        cuts.push_back(cut_between(steps[i - 1], steps[i]));
        open = i;
        --bins_left;
    }
    return cuts;
}

/// Columns with few or many distinct values, heavy ones, missing ones, infinities.
std::vector<double> draw_column(std::uint64_t seed, std::size_t n_rows) {
    std::vector<double> values;
    const std::uint64_t n_distinct = 1 + random_below(seed, Stream::kRows, 0, 40);
    for (std::size_t row = 1; row <= n_rows; ++row) {
        const double kind = random_unit(seed, Stream::kFeatures, row);
        // The square makes small values frequent, so that some outweigh a fair share.
        const double unit = random_unit(seed, Stream::kRows, row);
        const double step = std::floor(unit * unit * static_cast<double>(n_distinct));
        const double infinity = row % 2 == 0 ? kInfinity : -kInfinity;
        values.push_back(kind < 0.1    ? kMissing
                         : kind < 0.15 ? infinity
                         : kind < 0.4  ? 0.0
                                       : step / 8 - 1);
    }
    return values;
}

std::vector<std::int64_t> draw_weights(std::uint64_t seed, std::size_t n_rows) {
    std::vector<std::int64_t> weights;
    for (std::size_t row = 0; row < n_rows; ++row) {
        weights.push_back(1 +
                          static_cast<std::int64_t>(random_below(seed, Stream::kFeatures, row, 5)));
    }
    return weights;
}

/// The smallest float32 that is not below v, by stepping; v is at most the largest float32.
float smallest_float_from(double v) {
    float candidate = v < -double{kLargest} ? -kLargest : static_cast<float>(v);
    if (std::isinf(v)) candidate = static_cast<float>(v);
    while (double{candidate} >= v && !std::isinf(candidate)) {
        candidate = std::nextafterf(candidate, -std::numeric_limits<float>::infinity());
    }
    while (double{candidate} < v) {
        candidate = std::nextafterf(candidate, std::numeric_limits<float>::infinity());
    }
    return candidate;
}

bool is_float32(double x) {
    return std::abs(x) <= double{kLargest} ? double{static_cast<float>(x)} == x : std::isinf(x);
}

void check_cut(double v, double w) {
    const double c = cut_between(v, w);
    CHECK(v <= c && c < w);
    if (v <= double{kLargest} && double{smallest_float_from(v)} < w) CHECK(is_float32(c));
}

}  // namespace

TEST(a_cut_separates_and_is_a_float32_where_one_can) {
    std::vector<double> numbers = {0.0, kInfinity, std::numeric_limits<double>::max(), 1e300, 4e38};
    for (const double start : {1.0, 0.1, 1.0 / 3, 1e-30, 1e30, 16777216.0, 0x1p-126, 0x1p-149,
                               0x1p-1074, double{kLargest}}) {
        double up = start;
        auto up_float = static_cast<float>(start);
        for (int step = 0; step < 4; ++step) {
            numbers.insert(numbers.end(), {up, double{up_float}});
            up = std::nextafter(up, kInfinity);
            up_float = std::nextafterf(up_float, std::numeric_limits<float>::infinity());
        }
        numbers.push_back(std::nextafter(start, 0.0));
        numbers.push_back(std::nextafterf(static_cast<float>(start), 0.0F));
    }
    const std::size_t n_positive = numbers.size();
    for (std::size_t i = 0; i < n_positive; ++i) numbers.push_back(-numbers[i]);
    for (const double v : numbers) {
        for (const double w : numbers) {
            if (v < w) check_cut(v, w);
        }
    }
}

TEST(cuts_of_random_pairs_separate) {
    for (std::uint64_t i = 0; i < 200'000; ++i) {
        const auto v = std::bit_cast<double>(random_bits(1, Stream::kRows, i));
        // Close to v in half of the cases: neighbours are where rounding goes wrong.
        const std::uint64_t other = random_bits(2, Stream::kRows, i);
        const auto w = std::bit_cast<double>(
            i % 2 == 0 ? other : std::bit_cast<std::uint64_t>(v) + (other >> (i % 60 + 4)));
        const auto narrow = std::bit_cast<float>(static_cast<std::uint32_t>(other));
        if (v < w) check_cut(v, w);
        if (w < v) check_cut(w, v);
        if (std::isfinite(narrow)) check_cut(narrow, std::nextafter(double{narrow}, kInfinity));
    }
}

TEST(a_cut_lies_in_the_middle_when_there_is_room) {
    CHECK(cut_between(1, 2) == 1.5);
    CHECK(cut_between(-3, 1) == -1);
    CHECK(cut_between(0.1, 0.3) == double{static_cast<float>(0.2)});
    CHECK(cut_between(-1e300, 1e300) == 0);
    CHECK(cut_between(0, kInfinity) == double{kLargest});
    CHECK(cut_between(-kInfinity, 0) == -double{kLargest});
    CHECK(cut_between(1, std::nextafter(1, 2)) == 1);
    CHECK(cut_between(1e300, kInfinity) == 1e300);
}

TEST(cuts_are_those_of_the_plain_rule) {
    for (std::uint64_t seed = 0; seed < 150; ++seed) {
        const std::size_t n_rows = seed % 60;
        const std::vector<double> values = draw_column(seed, n_rows);
        std::vector<float> narrow;
        for (const double value : values) narrow.push_back(static_cast<float>(value));
        const auto weights = draw_weights(seed, n_rows);
        for (const int max_bins : {2, 3, 5, 16, 254, 255}) {
            const Cuts cuts = cuts_of_one(dense(values), n_rows, {}, max_bins);
            CHECK(cuts == plain_cuts(values, {}, max_bins));
            CHECK(cuts.size() < static_cast<std::size_t>(max_bins));
            CHECK(cuts_of_one(dense(narrow), n_rows, {}, max_bins) == cuts);
            CHECK(cuts_of_one(dense(values), n_rows, weights, max_bins) ==
                  plain_cuts(values, weights, max_bins));
        }
    }
}

TEST(both_zeros_are_one_value) {
    CHECK(cuts_of_one(dense(std::vector<double>{-0.0, 0.0, -0.0}), 3, {}, 255).empty());
    CHECK(cuts_of_one(dense(std::vector<double>{-0.0, 1.0, 0.0}), 3, {}, 255) == Cuts{0.5});
}

TEST(a_sparse_column_is_cut_like_the_dense_one) {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        const std::size_t n_rows = 200 + seed;
        const std::vector<double> values = draw_column(seed, n_rows);
        const SparseCopy<double> sparse(values);
        const auto weights = draw_weights(seed, n_rows);
        for (const int max_bins : {2, 7, 255}) {
            for (const std::size_t sample_rows : {kAllRows, n_rows / 2}) {
                CHECK(cuts_of_one(sparse.view(), n_rows, {}, max_bins, sample_rows) ==
                      cuts_of_one(dense(values), n_rows, {}, max_bins, sample_rows));
                CHECK(cuts_of_one(sparse.view(), n_rows, weights, max_bins, sample_rows) ==
                      cuts_of_one(dense(values), n_rows, weights, max_bins, sample_rows));
            }
        }
    }
}

TEST(a_weight_counts_as_so_many_rows) {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        const std::vector<double> values = draw_column(seed, 80);
        const auto weights = draw_weights(seed, 80);
        std::vector<double> repeated;
        for (std::size_t i = 0; i < values.size(); ++i) {
            repeated.insert(repeated.end(), static_cast<std::size_t>(weights[i]), values[i]);
        }
        for (const int max_bins : {2, 5, 20, 255}) {
            CHECK(cuts_of_one(dense(values), 80, weights, max_bins) ==
                  cuts_of_one(dense(repeated), repeated.size(), {}, max_bins));
        }
    }
}

TEST(threads_and_the_other_columns_do_not_matter) {
    std::vector<std::vector<double>> data;
    for (std::uint64_t seed = 0; seed < 9; ++seed) data.push_back(draw_column(seed, 500));
    Columns columns{500, {}};
    for (const auto& values : data) columns.features.push_back(dense(values));
    const std::vector<std::int32_t> codes(500, 3);
    ColumnView categories;
    categories.type = spinney::ValueType::kCode32;
    categories.data = reinterpret_cast<const std::byte*>(codes.data());
    categories.stride = sizeof(std::int32_t);
    columns.features.push_back(categories);
    const CutSettings settings{12, 300};
    const auto alone = find_cuts(columns, {}, settings, 1);
    CHECK(find_cuts(columns, {}, settings, 4) == alone);
    CHECK(alone.back().empty());
    for (std::size_t f = 0; f < data.size(); ++f) {
        CHECK(cuts_of_one(columns.features[f], 500, {}, 12, 300) == alone[f]);
    }
}

TEST(a_sample_is_chosen_by_the_row_number_only) {
    constexpr std::size_t kRows = 1000;
    constexpr std::size_t kSample = 100;
    std::vector<double> values;
    for (std::size_t row = 0; row < kRows; ++row) {
        values.push_back(random_unit(5, Stream::kRows, row));
    }
    std::vector<double> chosen;
    std::vector<double> others_changed = values;
    for (std::size_t row = 0; row < kRows; ++row) {
        if (random_unit(0, Stream::kBinningSample, row) < double{kSample} / kRows) {
            chosen.push_back(values[row]);
        } else {
            others_changed[row] = -7;
        }
    }
    CHECK(chosen.size() > kSample / 2 && chosen.size() < kSample * 2);
    const Cuts cuts = cuts_of_one(dense(values), kRows, {}, 16, kSample);
    CHECK(cuts == plain_cuts(chosen, {}, 16));
    CHECK(cuts == cuts_of_one(dense(others_changed), kRows, {}, 16, kSample));
    // As many rows as asked for: no sample at all.
    CHECK(cuts_of_one(dense(values), kRows, {}, 16, kRows) == plain_cuts(values, {}, 16));
}

template <class T>
void check_radix_sort(std::size_t n, bool weighted, std::uint64_t n_distinct) {
    std::vector<T> values;
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint64_t bits = random_bits(n, Stream::kRows, i) % n_distinct;
        const auto spread = bits * 0x9E3779B97F4A7C15U;  // few distinct values, all bytes in use
        const T value = sizeof(T) == 4 ? T(std::bit_cast<float>(static_cast<std::uint32_t>(spread)))
                                       : T(std::bit_cast<double>(spread));
        values.push_back(std::isnan(value) ? std::numeric_limits<T>::infinity() : value + T{0});
    }
    // Positions as weights: equal values must keep their order.
    std::vector<std::int64_t> weights(weighted ? n : 0);
    std::iota(weights.begin(), weights.end(), 0);
    std::vector<std::int64_t> order(n);
    std::iota(order.begin(), order.end(), 0);
    const std::vector<T> before = values;
    const auto value_at = [&](std::int64_t i) { return before[static_cast<std::size_t>(i)]; };
    std::stable_sort(order.begin(), order.end(),
                     [&](std::int64_t a, std::int64_t b) { return value_at(a) < value_at(b); });
    spinney::radix_sort(values, weights);
    CHECK(values.size() == n && weights.size() == (weighted ? n : 0));
    for (std::size_t i = 0; i < n; ++i) {
        CHECK(values[i] == value_at(order[i]));
        if (weighted) CHECK(weights[i] == order[i]);
    }
}

TEST(radix_sort_equals_stable_sort) {
    for (const std::size_t n : {0, 1, 2, 3, 100, 255, 256, 257, 5000}) {
        for (const std::uint64_t n_distinct : {1UL, 2UL, 50UL, 1UL << 62}) {
            check_radix_sort<float>(n, false, n_distinct);
            check_radix_sort<float>(n, true, n_distinct);
            check_radix_sort<double>(n, false, n_distinct);
            check_radix_sort<double>(n, true, n_distinct);
        }
    }
}

CHECK_MAIN
