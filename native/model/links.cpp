#include "native/model/links.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "native/base/failure.hpp"
#include "native/base/isa.hpp"
#include "native/base/parallel.hpp"

namespace spinney {
namespace {

constexpr std::array<std::string_view, 6> kNames{"identity", "logistic", "double_logistic",
                                                 "softmax",  "log",      "increasing"};

bool is_binary(Link link) { return link == Link::kLogistic || link == Link::kDoubleLogistic; }

}  // namespace

Link parse_link(std::string_view name) {
    const auto found = std::find(kNames.begin(), kNames.end(), name);
    if (found == kNames.end()) {
        throw Failure(FailureKind::kInvalidParameter, "unknown link: " + std::string(name));
    }
    return static_cast<Link>(found - kNames.begin());
}

std::size_t n_predicted(Link link, std::size_t n_outputs) {
    return is_binary(link) ? 2 : n_outputs;
}

LinkKernel* link_kernel() {
#if defined(__x86_64__) && defined(__GNUC__)
    return pick<LinkKernel>(apply_link_portable, apply_link_avx2, apply_link_avx512);
#else
    return apply_link_portable;
#endif
}

void apply_link(Link link, std::span<const double> scores, std::size_t n_outputs,
                std::span<double> predictions, int n_threads) {
    const std::size_t n_rows = n_outputs == 0 ? 0 : scores.size() / n_outputs;
    const std::size_t width = n_predicted(link, n_outputs);
    if (n_rows * n_outputs != scores.size() || predictions.size() != n_rows * width ||
        (is_binary(link) && n_outputs != 1)) {
        throw Failure(FailureKind::kInvalidInput, "the scores do not fit the link");
    }
    LinkKernel* kernel = link_kernel();
    parallel_blocks(n_threads, n_rows, 16 * kLinkRows, [&](std::size_t begin, std::size_t end) {
        std::vector<double> tile(n_outputs * kLinkRows);
        for (std::size_t first = begin; first < end; first += kLinkRows) {
            const std::size_t n = std::min(kLinkRows, end - first);
            for (std::size_t i = 0; i < n; ++i) {
                for (std::size_t k = 0; k < n_outputs; ++k) {
                    tile[k * kLinkRows + i] = scores[(first + i) * n_outputs + k];
                }
            }
            kernel({link, n_outputs, n, tile.data(), predictions.data() + first * width});
        }
    });
}

}  // namespace spinney
