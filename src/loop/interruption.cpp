#include "loop/interruption.hpp"

#include <memory>
#include <new>

#include <boost/thread/thread_only.hpp>

namespace latchkey::inline v0 {

using boost::this_thread::disable_interruption;

void interruption_point() {
    boost::this_thread::interruption_point();
}

uninterrupted::uninterrupted() noexcept {
    static_assert(sizeof(disable_interruption) == sizeof before_ &&
                  alignof(disable_interruption) == alignof(std::byte));
    ::new (static_cast<void*>(&before_)) disable_interruption;
}

uninterrupted::~uninterrupted() {
    std::destroy_at(std::launder(reinterpret_cast<disable_interruption*>(&before_)));
}

}  // namespace latchkey::inline v0
