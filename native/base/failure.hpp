/// One exception type for everything the native code refuses.
#pragma once

#include <stdexcept>
#include <string>

namespace spinney {

/// What kind of refusal; the binding maps it to a class of errors.py.
enum class FailureKind { kInvalidInput, kInvalidModel, kInvalidParameter };

class Failure : public std::runtime_error {
  public:
    Failure(FailureKind kind, const std::string& message)
        : std::runtime_error(message), kind_(kind) {}

    FailureKind kind() const noexcept { return kind_; }

  private:
    FailureKind kind_;
};

}  // namespace spinney
