#include "ensemble/virtual/virtual_process.hpp"

#include <cmath>
#include <utility>

namespace latchkey::inline v0 {
namespace {

constexpr std::int64_t million = 1'000'000;

// Without overflow, and exact: rounded down, and rounded up.
std::int64_t down(std::int64_t d, std::int64_t by, std::int64_t of) noexcept {
    return d / of * by + d % of * by / of;
}

std::int64_t up(std::int64_t d, std::int64_t by, std::int64_t of) noexcept {
    return d / of * by + (d % of * by + of - 1) / of;
}

}  // namespace

std::shared_ptr<virtual_process> virtual_process::make(std::shared_ptr<virtual_loop> owner) {
    std::uint32_t number = 0;
    owner->call([&] { number = owner->add_process(); });
    return std::make_shared<virtual_process>(std::move(owner), number);
}

virtual_process::virtual_process(std::shared_ptr<virtual_loop> owner, std::uint32_t number) noexcept
    : owner_(std::move(owner)), number_(number) {}

loop::clock::time_point virtual_process::now() const noexcept {
    const clock::time_point now = owner_->now();
    const clock_rate* const r = rate_.load(std::memory_order_acquire);
    return r == nullptr
               ? now
               : r->shown + clock::duration(down((now - r->since).count(), r->millionths, million));
}

loop::clock::time_point virtual_process::due(clock::time_point at) const noexcept {
    const clock_rate* const r = rate_.load(std::memory_order_acquire);
    constexpr clock::duration far = clock::duration::max() / 4;
    if (r == nullptr || at > clock::time_point(far)) {
        return at;
    }
    const clock::duration left = at - r->shown;
    return r->since +
           (left.count() < 0 ? left : clock::duration(up(left.count(), million, r->millionths)));
}

loop::clock::duration virtual_process::lasting(clock::duration d) const noexcept {
    const clock_rate* const r = rate_.load(std::memory_order_acquire);
    return r == nullptr ? d : clock::duration(up(d.count(), million, r->millionths));
}

void virtual_process::set_clock_rate(double rate) {
    rates_.push_back({owner_->now(), now(), std::llround(rate * static_cast<double>(million))});
    rate_.store(&rates_.back(), std::memory_order_release);
    owner_->timers_.set_again(*this);
}

}  // namespace latchkey::inline v0
