/// The kernel of split search: the gain of every cut between the filled bins of one feature.
#pragma once

#include <cstddef>
#include <cstdint>

#include "native/trees/packed_gradients.hpp"

namespace spinney {

/// Sums of the rows up to and including each filled bin, as real numbers. The integers are below
/// 2^52 and the scales powers of two, so the conversion is exact.
struct ScanSums {
    double gradient[256];
    double hessian[256];
    double weight[256];
};

/// Integer units → real numbers; powers of two.
struct ScanScales {
    double gradient = 1.0;
    double hessian = 1.0;
    double weight = 1.0;
};

/// What the gain depends on besides the sums on the left.
struct ScanLimits {
    double gradient;  ///< total of the node
    double hessian;
    double weight;
    double l1;
    double l2;
    double offset;  ///< part of the gain that is the same for every cut
    double min_hessian;
    double min_weight;
};

/// Running packed sums → real sums.
using UnpackSums = void(const std::uint64_t* running, std::size_t n, const Packing& packing,
                        const ScanScales& scales, ScanSums& sums);
/// gains[i] = score(left) + score(right) - score(node), for the cut behind filled bin i; -1 if the
/// cut is not allowed.
using GainOfCuts = void(const ScanSums& sums, std::size_t n, const ScanLimits& limits,
                        double* gains);

UnpackSums unpack_sums_portable, unpack_sums_avx2, unpack_sums_avx512;
GainOfCuts gain_of_cuts_portable, gain_of_cuts_avx2, gain_of_cuts_avx512;

}  // namespace spinney
