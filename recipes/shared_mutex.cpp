#include <latchkey/shared_mutex.hpp>

#include "acquirer.hpp"
#include "conversion.hpp"
#include "path.hpp"

#include <array>
#include <map>
#include <thread>
#include <utility>

#include <boost/thread/thread_only.hpp>

namespace latchkey {
namespace {

using std::chrono::nanoseconds;

/// Curator's InterProcessReadWriteLock.
constexpr queue_markers read_write_names{.exclusive = "__WRIT__", .shared = "__READ__"};

constexpr auto at_once = nanoseconds::zero();

}  // namespace

class shared_mutex::impl : public std::enable_shared_from_this<impl> {
public:
    impl(const std::shared_ptr<client_core>& core, participation p)
        : acquire(core, local_queue::admits::everybody) {
        for (const auto m : {lock_mode::shared, lock_mode::upgrade, lock_mode::exclusive}) {
            p.mode = m;
            as_.at(static_cast<std::size_t>(m)) = std::make_shared<const participation>(p);
        }
    }

    [[nodiscard]] const std::shared_ptr<const participation>& as(lock_mode m) const {
        return as_.at(static_cast<std::size_t>(m));
    }

    [[nodiscard]] bool forked() const { return acquire.core()->forked(); }

    const acquirer acquire;

    // lock() and its like keep their holds here.
    boost::mutex guard;
    hold alone LATCHKEY_GUARDED_BY(guard);  ///< exclusive or upgrade
    std::multimap<std::thread::id, hold> together LATCHKEY_GUARDED_BY(guard);

    /// Takes out a shared hold, this thread's if it has one: guards may move between threads.
    hold take_shared() {
        const monitor_lock lock(guard);
        auto found = together.find(std::this_thread::get_id());
        if (found == together.end()) {
            found = together.begin();
        }
        return found == together.end() ? hold() : std::move(together.extract(found).mapped());
    }

    void keep(hold h, lock_mode as) {
        const monitor_lock lock(guard);
        if (as == lock_mode::shared) {
            together.emplace(std::this_thread::get_id(), std::move(h));
        } else {
            alone = std::move(h);
        }
    }

    hold take_alone() {
        const monitor_lock lock(guard);
        return std::move(alone);
    }

    void convert(const std::shared_ptr<hold>& h,
                 lock_mode to,
                 nanoseconds limit,
                 const acquire_options& options,
                 conversion::handler done) const;
    bool upgrade_kept(shared_mutex& m, hold h, lock_mode to, nanoseconds limit);
    void downgrade_kept(shared_mutex& m, lock_mode to);

private:
    std::array<std::shared_ptr<const participation>, 3> as_;
};

shared_mutex::shared_mutex(client& c, std::string path, mutex_options options) {
    const auto core = client_core::of(c);
    impl_ = std::make_shared<impl>(
        core, participation_of(*core, std::move(path), read_write_names, std::move(options)));
}

shared_mutex::~shared_mutex() {
    if (impl_->forked()) {
        leak(impl_);
    }
}

// ---- acquire ----

hold shared_mutex::acquire(lock_mode m, acquire_options options) {
    return acquire_within(m, local_queue::for_ever, std::move(options));
}

hold shared_mutex::acquire(lock_mode m, acquire_options options, std::error_code& ec) {
    return without_exception(ec, [&] { return acquire(m, std::move(options)); });
}

hold shared_mutex::try_acquire(lock_mode m) {
    return acquire_within(m, at_once, {});
}

hold shared_mutex::try_acquire(lock_mode m, std::error_code& ec) {
    return without_exception(ec, [&] { return try_acquire(m); });
}

hold shared_mutex::acquire_within(lock_mode m, nanoseconds limit, acquire_options options) {
    return impl_->acquire.acquire(impl_->as(m), limit, std::move(options));
}

void shared_mutex::async_acquire(lock_mode m,
                                 nanoseconds limit,
                                 acquire_options options,
                                 acquire_handler handler) {
    impl_->acquire.async_acquire(impl_->as(m), limit, std::move(options), std::move(handler));
}

// ---- convert ----

void shared_mutex::impl::convert(const std::shared_ptr<hold>& h,
                                 lock_mode to,
                                 nanoseconds limit,
                                 const acquire_options& options,
                                 conversion::handler done) const {
    const auto state = hold_state::of(*h);
    if (!state) {
        done({errc::hold_lost, "this hold is empty"}, false);
        return;
    }
    if (state->core() != acquire.core() || !state->path().starts_with(as(to)->directory + '/')) {
        done({errc::invalid_argument,
              "a hold of \"" + escaped(state->path()) + "\" is none of \"" +
                  escaped(as(to)->directory) + '"'},
             false);
        return;
    }
    if (state->mode() != lock_mode::shared || to == lock_mode::shared) {
        std::make_shared<conversion>(state, std::move(done))->start(to, limit, options.stop);
        return;
    }
    // Two readers that waited to become writers would wait for each other: the second is told no.
    const auto end = time_after(acquire.core()->loop(), limit);
    acquire.enter(as(lock_mode::upgrade),
                  at_once,
                  {.stop = options.stop, .reserved = nullptr},
                  [self = shared_from_this(), h, to, end, options, done = std::move(done)](
                      local_queue::acquired a) {
                      if (!a.granted || to == lock_mode::upgrade) {
                          const bool granted = static_cast<bool>(a.granted);
                          if (granted) {
                              *h = std::move(a.granted);
                          }
                          done(std::move(a.why), granted);
                          return;
                      }
                      *h = std::move(a.granted);
                      const auto left = end - self->acquire.core()->loop().now();
                      self->convert(h, to, left, options, done);
                  });
}

bool shared_mutex::convert(hold& h, lock_mode to, const acquire_options& options) {
    return convert_within(h, to, local_queue::for_ever, options);
}

bool shared_mutex::convert_within(hold& h,
                                  lock_mode to,
                                  nanoseconds limit,
                                  const acquire_options& options) {
    using outcome = std::pair<failure, bool>;
    impl_->acquire.core()->check_may_block();
    std::stop_source stop;
    const std::stop_callback on_stop(options.stop, [&stop] { stop.request_stop(); });
    const auto moved = std::make_shared<hold>(std::move(h));
    const auto result = std::make_shared<awaited<outcome>>();
    impl_->convert(moved,
                   to,
                   limit,
                   {.stop = stop.get_token(), .reserved = nullptr},
                   [result](failure why, bool done) {
                       result->set({std::move(why), done});
                   });
    const auto take_back = [&](outcome o) {
        h = std::move(*moved);
        o.first.raise();
        return o.second;
    };
    try {
        return take_back(result->get());
    } catch (const boost::thread_interrupted&) {
        const boost::this_thread::disable_interruption uninterrupted;
        stop.request_stop();
        result->get();
        h = std::move(*moved);
        throw;
    }
}

void shared_mutex::async_convert(
    hold h, lock_mode to, nanoseconds limit, acquire_options options, acquire_handler handler) {
    if (impl_->forked()) {
        throw error(errc::forked, "connect a client of its own in the child");
    }
    const auto moved = std::make_shared<hold>(std::move(h));
    impl_->convert(
        moved,
        to,
        limit,
        options,
        [core = impl_->acquire.core(), moved, handler = std::move(handler)](const failure& why,
                                                                            bool) {
            core->call([moved, handler, code = why.code] { handler(code, std::move(*moved)); });
        });
}

// ---- Lockable ----

bool shared_mutex::lock_within(lock_mode m, nanoseconds limit) {
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
bool shared_mutex::impl::upgrade_kept(shared_mutex& m, hold h, lock_mode to, nanoseconds limit) {
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

bool shared_mutex::upgrade_within(nanoseconds limit) {
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
    const monitor_lock lock(impl_->guard);
    if (!impl_->alone) {
        throw error(errc::hold_lost,
                    "\"" + escaped(path()) + "\" is not locked through this object");
    }
    return impl_->alone;
}

hold& shared_mutex::held_shared() {
    const monitor_lock lock(impl_->guard);
    const auto found = impl_->together.find(std::this_thread::get_id());
    if (found == impl_->together.end()) {
        throw error(errc::hold_lost,
                    "\"" + escaped(path()) + "\" is not locked to share by this thread");
    }
    return found->second;
}

// ---- who is there ----

std::vector<participant> shared_mutex::participants() {
    return impl_->acquire.participants(*impl_->as(lock_mode::exclusive));
}

const std::string& shared_mutex::path() const noexcept {
    return impl_->as(lock_mode::exclusive)->directory;
}

}  // namespace latchkey
