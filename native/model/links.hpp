/// From raw scores to predictions, in our own arithmetic: the same bits on every machine.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace spinney {

/// In the order of the names in links.cpp.
enum class Link {
    kIdentity,        ///< numbers; or class shares that already are probabilities
    kLogistic,        ///< one score, the log-odds of the second class, to two probabilities
    kDoubleLogistic,  ///< half the log-odds: what exponential loss estimates
    kSoftmax,         ///< one score per class
    kLog,             ///< positive numbers
    kIncreasing,      ///< numbers of a row in increasing order: quantiles that do not cross
};

/// Throws Failure(kInvalidParameter) for a name that does not exist.
Link parse_link(std::string_view name);

/// Numbers predicted per row.
std::size_t n_predicted(Link link, std::size_t n_outputs);

/// Rows of a task.
inline constexpr std::size_t kLinkRows = 192;

struct LinkTask {
    Link link;
    std::size_t n_outputs;
    std::size_t n;        ///< rows, kLinkRows at most
    double* scores;       ///< output by output, kLinkRows apart; overwritten
    double* predictions;  ///< row by row
};

using LinkKernel = void(const LinkTask& task);
LinkKernel apply_link_portable, apply_link_avx2, apply_link_avx512;

/// That of the active instruction set.
LinkKernel* link_kernel();

/// scores (n_rows, n_outputs) to predictions (n_rows, n_predicted), both row by row.
void apply_link(Link link, std::span<const double> scores, std::size_t n_outputs,
                std::span<double> predictions, int n_threads);

}  // namespace spinney
