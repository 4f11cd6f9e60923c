#pragma once

#include <latchkey/export.hpp>

#include <cstddef>

namespace latchkey::inline v0 {

/// Throws boost::thread_interrupted if the calling thread was interrupted.
void interruption_point();

/// While it exists, no interruption is thrown in the thread that made it.
class LATCHKEY_EXPORT_FOR_TESTING uninterrupted {
public:
    uninterrupted() noexcept;
    uninterrupted(const uninterrupted&) = delete;
    uninterrupted& operator=(const uninterrupted&) = delete;
    ~uninterrupted();

private:
    std::byte before_;  ///< a boost::this_thread::disable_interruption
};

}  // namespace latchkey::inline v0
