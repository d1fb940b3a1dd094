#include "native/base/elementary.hpp"

namespace spinney {

const double kLeastExponent = -708.0;
const double kMostExponent = 709.0;

}  // namespace spinney
