/// Finding cut points and binning, 1 000 000 x 28 float32 (and float64), 255 bins.
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "benchmarks/kernels/stopwatch.hpp"
#include "native/base/isa.hpp"
#include "native/base/random.hpp"
#include "native/data/bin_mapper.hpp"
#include "native/data/quantile_cuts.hpp"

namespace {

constexpr std::size_t kRows = 1'000'000;
constexpr std::size_t kFeatures = 28;
constexpr int kRepeats = 9;

/// Roughly normal numbers: the sum of four uniform ones.
template <class T>
std::vector<T> make_values() {
    std::vector<T> values(kRows * kFeatures);
    for (std::size_t i = 0; i < values.size(); ++i) {
        double sum = -2.0;
        for (std::uint64_t k = 0; k < 4; ++k) {
            sum += spinney::random_unit(k, spinney::Stream::kRows, i);
        }
        values[i] = static_cast<T>(sum);
    }
    return values;
}

template <class T>
spinney::Columns as_columns(const std::vector<T>& values, bool c_order) {
    const auto type = sizeof(T) == 4 ? spinney::ValueType::kFloat32 : spinney::ValueType::kFloat64;
    spinney::Columns columns{kRows, {}};
    for (std::size_t feature = 0; feature < kFeatures; ++feature) {
        const std::size_t first = c_order ? feature : feature * kRows;
        const std::size_t step = c_order ? kFeatures : 1;
        columns.features.push_back(
            {.type = type,
             .data = reinterpret_cast<const std::byte*>(values.data() + first),
             .stride = static_cast<std::ptrdiff_t>(step * sizeof(T)),
             .rows = {},
             .is_sparse = false});
    }
    return columns;
}

template <class T>
void bench_type(const std::string& type) {
    const std::vector<T> values = make_values<T>();
    std::vector<std::uint8_t> bins(values.size());
    for (const bool c_order : {true, false}) {
        const std::string suffix = " " + type + (c_order ? " C order" : " by column");
        const spinney::Columns columns = as_columns(values, c_order);
        std::vector<std::vector<double>> cuts;
        for (const int threads : {1, 2}) {
            const double seconds = bench::fastest_seconds(3, [&] {
                cuts = spinney::find_cuts(columns, {}, spinney::CutSettings{}, threads);
            });
            bench::report(("find_cuts" + suffix).c_str(), "portable", threads, seconds,
                          kRows * kFeatures, "value");
        }
        std::vector<spinney::FeatureBins> mapper;
        for (const auto& feature : cuts) mapper.push_back(spinney::FeatureBins::numeric(feature));
        for (int isa = 0; isa <= static_cast<int>(spinney::best_isa()); ++isa) {
            spinney::use_isa(static_cast<spinney::Isa>(isa));
            for (const int threads : {1, 2}) {
                const double seconds = bench::fastest_seconds(
                    kRepeats, [&] { spinney::bin_columns(columns, mapper, bins, threads); });
                bench::report(("bin_columns" + suffix).c_str(),
                              spinney::isa_name(spinney::active_isa()), threads, seconds,
                              kRows * kFeatures, "value");
            }
        }
    }
}

}  // namespace

int main() {
    bench_type<float>("float32");
    bench_type<double>("float64");
}
