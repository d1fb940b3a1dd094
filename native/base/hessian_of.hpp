/// The one formula of second derivatives that need not be stored.
#pragma once

namespace spinney {

/// p (1 - p) from p or p - 1, the gradient of the losses of classes: logistic and multinomial.
[[gnu::always_inline]] inline float hessian_of(float gradient) {
    const float size = __builtin_fabsf(gradient);
    return size * (1.0F - size);
}

}  // namespace spinney
