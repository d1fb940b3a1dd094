#include "native/data/nonzero_columns.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <type_traits>

#include "native/base/parallel.hpp"

namespace spinney {
namespace {

/// Of vectors that are looked through together, by one thread.
constexpr std::size_t kBlockBytes = std::size_t{1} << 20;
/// Vectors that are looked at before all of them are.
constexpr std::size_t kGlances = 64;
/// Values that are looked at together: most of such stretches are all zero.
constexpr std::size_t kStretch = 16;

/// Contiguous vectors of equal length: rows or columns.
template <class T>
struct Vectors {
    const T* data = nullptr;
    std::size_t n = 0;
    std::size_t length = 0;
    std::ptrdiff_t to_next = 0;

    const T* at(std::size_t i) const { return data + static_cast<std::ptrdiff_t>(i) * to_next; }
};

template <class T>
bool is_all_zero(const T* values) {
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    Bits bits[kStretch];
    std::memcpy(bits, values, sizeof bits);
    Bits any = 0;
    for (const Bits one : bits) any |= one << 1;  // without the sign: -0 is 0
    return any == 0;
}

template <class T, class Take>
void for_each_nonzero(const T* values, std::size_t n, Take take) {
    std::size_t first = 0;
    for (; first + kStretch <= n; first += kStretch) {
        if (is_all_zero(values + first)) continue;
        for (std::size_t i = first; i < first + kStretch; ++i) {
            if (values[i] != T{0}) take(i);
        }
    }
    for (; first < n; ++first) {
        if (values[first] != T{0}) take(first);
    }
}

template <class T>
std::size_t count_nonzero(const T* values, std::size_t n) {
    std::size_t count = 0;
    for_each_nonzero(values, n, [&](std::size_t) { ++count; });
    return count;
}

template <class T>
bool looks_sparse(const Vectors<T>& vectors, std::size_t one_in) {
    const std::size_t n = std::min(kGlances, vectors.n);
    std::size_t count = 0;
    for (std::size_t i = 0; i < n; ++i) {
        count += count_nonzero(vectors.at(vectors.n * i / n), vectors.length);
    }
    return count * one_in <= n * vectors.length;
}

/// What one block of vectors holds: their numbers and places within them.
template <class T>
struct Entries {
    std::vector<std::uint32_t> vector;
    std::vector<std::uint32_t> place;
    std::vector<T> value;
};

/// The nonzero values of every block in their order; nothing if they are more than one in `one_in`.
template <class T>
std::optional<std::vector<Entries<T>>> collect(const Vectors<T>& vectors, std::size_t one_in,
                                               int n_threads) {
    const std::size_t block = std::max<std::size_t>(1, kBlockBytes / (vectors.length * sizeof(T)));
    std::vector<Entries<T>> blocks((vectors.n + block - 1) / block);
    const std::size_t most = vectors.n * vectors.length / one_in;
    std::atomic<std::size_t> total{0};
    parallel_for(n_threads, blocks.size(), [&](std::size_t b) {
        if (total.load(std::memory_order_relaxed) > most) return;
        Entries<T>& entries = blocks[b];
        for (std::size_t i = b * block; i < std::min((b + 1) * block, vectors.n); ++i) {
            const T* values = vectors.at(i);
            for_each_nonzero(values, vectors.length, [&](std::size_t place) {
                entries.vector.push_back(static_cast<std::uint32_t>(i));
                entries.place.push_back(static_cast<std::uint32_t>(place));
                entries.value.push_back(values[place]);
            });
        }
        total.fetch_add(entries.value.size(), std::memory_order_relaxed);
    });
    if (total.load() > most) return std::nullopt;
    return blocks;
}

/// Calls take(row, column, value) in the order of vectors, and of places within them.
template <class T, class Take>
void for_each_entry(const std::vector<Entries<T>>& blocks, bool are_rows, Take take) {
    for (const Entries<T>& entries : blocks) {
        for (std::size_t i = 0; i < entries.value.size(); ++i) {
            const std::uint32_t vector = entries.vector[i];
            const std::uint32_t place = entries.place[i];
            take(are_rows ? vector : place, are_rows ? place : vector, entries.value[i]);
        }
    }
}

}  // namespace

template <class T>
std::optional<NonzeroColumns<T>> nonzero_columns(const MatrixView<T>& matrix, std::size_t one_in,
                                                 int n_threads) {
    constexpr std::size_t kMostRows = std::numeric_limits<std::int32_t>::max();
    if (matrix.n_rows == 0 || matrix.n_columns == 0 || matrix.n_rows > kMostRows) {
        return std::nullopt;
    }
    const bool are_rows = matrix.to_next_column == 1;
    if (!are_rows && matrix.to_next_row != 1) return std::nullopt;
    Vectors<T> vectors{matrix.data, matrix.n_rows, matrix.n_columns, matrix.to_next_row};
    if (!are_rows) vectors = {matrix.data, matrix.n_columns, matrix.n_rows, matrix.to_next_column};
    if (!looks_sparse(vectors, one_in)) return std::nullopt;
    const auto blocks = collect(vectors, one_in, n_threads);
    if (!blocks) return std::nullopt;

    NonzeroColumns<T> found;
    found.starts.assign(matrix.n_columns + 1, 0);
    for_each_entry(*blocks, are_rows,
                   [&](std::uint32_t, std::uint32_t column, T) { ++found.starts[column + 1]; });
    for (std::size_t c = 0; c < matrix.n_columns; ++c) found.starts[c + 1] += found.starts[c];
    found.rows.resize(static_cast<std::size_t>(found.starts.back()));
    found.values.resize(found.rows.size());
    std::vector<std::int64_t> next(found.starts.begin(), found.starts.end() - 1);
    for_each_entry(*blocks, are_rows, [&](std::uint32_t row, std::uint32_t column, T value) {
        const auto to = static_cast<std::size_t>(next[column]++);
        found.rows[to] = static_cast<std::int32_t>(row);
        found.values[to] = value;
    });
    return found;
}

template std::optional<NonzeroColumns<float>> nonzero_columns(const MatrixView<float>&, std::size_t,
                                                              int);
template std::optional<NonzeroColumns<double>> nonzero_columns(const MatrixView<double>&,
                                                               std::size_t, int);

}  // namespace spinney
