/// Derivatives and values of losses over many rows: the one loop for all formulas.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace spinney {

/// In the order of the table in derivatives.cpp.
enum class LossKind {
    kSquared,
    kAbsolute,
    kHuber,
    kQuantile,
    kPoisson,
    kGamma,
    kTweedie,
    kLogistic,
    kExponential,
};

/// A loss with its parameter: delta of Huber, level of quantile, power of Tweedie.
struct LossSpec {
    LossKind kind = LossKind::kSquared;
    double parameter = 0.0;
};

/// Throws Failure(kInvalidParameter) for a name that does not exist.
LossKind parse_loss(std::string_view name);

/// Largest magnitudes over some rows, as written; NaN if one is NaN. A maximum has no order.
struct DerivativeLimits {
    float gradient = 0.0F;
    float hessian = 0.0F;
};

/// Whether all second derivatives are 1.
bool has_constant_hessian(const LossSpec& loss);

/// What rows are to be predicted: numbers, or the codes of two classes in a byte each.
struct RowTargets {
    std::span<const double> numbers;
    std::span<const std::uint8_t> codes;  ///< in place of numbers

    std::size_t size() const { return numbers.size() + codes.size(); }
    /// As numbers; room: for n of them.
    const double* some(std::size_t first, std::size_t n, double* room) const {
        if (codes.empty()) return numbers.data() + first;
        for (std::size_t i = 0; i < n; ++i) room[i] = static_cast<double>(codes[first + i]);
        return room;
    }
};

/// gradients[i], hessians[i] = derivatives of the loss of row i by its score. Where all hessians
/// are 1, `hessians` may be empty: memory is what bounds these losses.
DerivativeLimits fill_derivatives(const LossSpec& loss, const RowTargets& y,
                                  std::span<const double> scores, std::span<float> gradients,
                                  std::span<float> hessians, int n_threads);

/// Multinomial: scores and derivatives class by class, (n_classes, n_rows). The hessian is p (1 -
/// p), its diagonal. Limits class by class.
std::vector<DerivativeLimits> fill_softmax_derivatives(std::span<const std::int32_t> codes,
                                                       std::span<const double> scores,
                                                       std::size_t n_classes,
                                                       std::span<float> gradients,
                                                       std::span<float> hessians, int n_threads);

/// Sum of weight * loss. Rows are added in blocks of fixed size and blocks in their order, so the
/// number of threads does not change it. weights empty: all 1.
double sum_loss(const LossSpec& loss, const RowTargets& y, std::span<const double> scores,
                std::span<const double> weights, int n_threads);
double sum_softmax_loss(std::span<const std::int32_t> codes, std::span<const double> scores,
                        std::size_t n_classes, std::span<const double> weights, int n_threads);

/// Some rows of one output; what the kernels of derivatives_<isa>.cpp see.
struct DerivativeTask {
    LossSpec loss;
    const double* y;
    const double* scores;
    float* gradients;
    float* hessians;  ///< left alone if all are 1
    std::size_t n;
};

/// Rows of all classes that fit into the buffers: at most kSoftmaxRows.
struct SoftmaxTask {
    const std::int32_t* codes;
    const double* scores;  ///< of the first class; those of the next are `stride` further on
    float* gradients;
    float* hessians;
    std::size_t stride;
    std::size_t n_classes;
    std::size_t n;
    double* buffer;            ///< n_classes * kSoftmaxRows numbers to work with
    DerivativeLimits* limits;  ///< of each class; raised
};

inline constexpr std::size_t kSoftmaxRows = 128;

/// values[i] = loss of row i.
struct LossValuesTask {
    LossSpec loss;
    const double* y;
    const double* scores;
    double* values;
    std::size_t n;
};

using DerivativeKernel = DerivativeLimits(const DerivativeTask& task);
DerivativeKernel derivatives_portable, derivatives_avx2, derivatives_avx512;
using SoftmaxKernel = void(const SoftmaxTask& task);
SoftmaxKernel softmax_derivatives_portable, softmax_derivatives_avx2, softmax_derivatives_avx512;
using LossValuesKernel = void(const LossValuesTask& task);
LossValuesKernel loss_values_portable, loss_values_avx2, loss_values_avx512;
/// The losses of rows; derivatives and limits of the task are not touched.
using SoftmaxValuesKernel = void(const SoftmaxTask& task, double* values);
SoftmaxValuesKernel softmax_values_portable, softmax_values_avx2, softmax_values_avx512;

}  // namespace spinney
