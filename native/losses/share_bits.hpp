/// A number from 0 to 1 as two integers of 30 bits, cut off behind them.
#pragma once

#include <cstdint>

namespace spinney {

struct ShareBits {
    std::int32_t high;
    std::int32_t low;
};

[[gnu::always_inline]] inline ShareBits cut_share(double share) {
    const double scaled = share * 0x1p30;
    const auto high = static_cast<std::int32_t>(scaled);
    const auto low = static_cast<std::int32_t>((scaled - static_cast<double>(high)) * 0x1p30);
    return {high, low};
}

}  // namespace spinney
