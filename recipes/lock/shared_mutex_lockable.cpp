#include "lock/shared_mutex_impl.hpp"
#include "text/path.hpp"

#include <utility>

// A shared_mutex as guards see it: the holds are kept inside.

namespace latchkey {
namespace {

constexpr auto at_once = std::chrono::nanoseconds::zero();

}  // namespace

bool shared_mutex::lock_within(lock_mode m, std::chrono::nanoseconds limit) {
    impl_->acquire.core()->check_not_forked();  // a thread of the parent may have had the guard
    if (impl_->is_alone_by_this_thread()) {
        if (limit == local_queue::for_ever) {
            throw error(errc::would_deadlock,
                        "this thread holds \"" + escaped(path()) +
                            "\" already: a shared_mutex is not recursive");
        }
        return false;
    }
    hold granted = acquire_within(m, limit, {});
    if (!granted) {
        return false;
    }
    impl_->keep(std::move(granted), m);
    return true;
}

void shared_mutex::lock() {
    static_cast<void>(lock_within(lock_mode::exclusive, local_queue::for_ever));
}

bool shared_mutex::try_lock() {
    return lock_within(lock_mode::exclusive, at_once);
}

void shared_mutex::unlock() noexcept {
    if (!impl_->forked()) {
        impl_->take_alone();
    }
}

void shared_mutex::lock_shared() {
    static_cast<void>(lock_within(lock_mode::shared, local_queue::for_ever));
}

bool shared_mutex::try_lock_shared() {
    return lock_within(lock_mode::shared, at_once);
}

void shared_mutex::unlock_shared() noexcept {
    if (!impl_->forked()) {
        impl_->take_shared();
    }
}

void shared_mutex::lock_upgrade() {
    static_cast<void>(lock_within(lock_mode::upgrade, local_queue::for_ever));
}

bool shared_mutex::try_lock_upgrade() {
    return lock_within(lock_mode::upgrade, at_once);
}

void shared_mutex::unlock_upgrade() noexcept {
    unlock();
}

/// The hold goes back inside, where the guard that has it now looks for it: where it was, if it
/// was not converted.
bool shared_mutex::impl::upgrade_kept(shared_mutex& m,
                                      hold h,
                                      lock_mode to,
                                      std::chrono::nanoseconds limit) {
    if (!h) {
        throw error(errc::hold_lost, "\"" + escaped(m.path()) + "\" is not locked in this mode");
    }
    const lock_mode from = h.mode();

    struct put_back {
        ~put_back() { self.keep(std::move(kept), reached); }

        impl& self;
        hold& kept;
        lock_mode reached;
    } back{*this, h, from};

    const bool done = m.convert_within(h, to, limit, {});
    if (done) {
        back.reached = to;
    }
    return done;
}

/// Whatever becomes of it on the servers, it is at least what is asked for now, or lost.
void shared_mutex::impl::downgrade_kept(shared_mutex& m, lock_mode to) {
    hold h = take_alone();
    if (!h) {
        return;  // nothing is locked: to keep nothing could release what another thread locks now
    }
    try {
        m.convert_within(h, to, local_queue::for_ever, {});
    } catch (const error&) {  // held() shows it
    }
    keep(std::move(h), to);
}

void shared_mutex::unlock_upgrade_and_lock() {
    impl_->upgrade_kept(*this, impl_->take_alone(), lock_mode::exclusive, local_queue::for_ever);
}

bool shared_mutex::try_unlock_upgrade_and_lock() {
    return impl_->upgrade_kept(*this, impl_->take_alone(), lock_mode::exclusive, at_once);
}

bool shared_mutex::upgrade_within(std::chrono::nanoseconds limit) {
    return impl_->upgrade_kept(*this, impl_->take_alone(), lock_mode::exclusive, limit);
}

bool shared_mutex::try_unlock_shared_and_lock_upgrade() {
    return impl_->upgrade_kept(*this, impl_->take_shared(), lock_mode::upgrade, at_once);
}

bool shared_mutex::try_unlock_shared_and_lock() {
    return impl_->upgrade_kept(*this, impl_->take_shared(), lock_mode::exclusive, at_once);
}

void shared_mutex::unlock_and_lock_upgrade() {
    impl_->downgrade_kept(*this, lock_mode::upgrade);
}

void shared_mutex::unlock_and_lock_shared() {
    impl_->downgrade_kept(*this, lock_mode::shared);
}

void shared_mutex::unlock_upgrade_and_lock_shared() {
    impl_->downgrade_kept(*this, lock_mode::shared);
}

hold& shared_mutex::held() {
    impl_->acquire.core()->check_not_forked();
    const monitor_lock lock(impl_->guard);
    if (!impl_->alone) {
        throw error(errc::hold_lost,
                    "\"" + escaped(path()) + "\" is not locked through this object");
    }
    return impl_->alone;
}

hold& shared_mutex::held_shared() {
    impl_->acquire.core()->check_not_forked();
    const monitor_lock lock(impl_->guard);
    const auto found = impl_->together.find(std::this_thread::get_id());
    if (found == impl_->together.end()) {
        throw error(errc::hold_lost,
                    "\"" + escaped(path()) + "\" is not locked to share by this thread");
    }
    return found->second;
}

}  // namespace latchkey
