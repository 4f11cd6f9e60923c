// The public headers first, and nothing before them: they bring no Boost with them.
#include <latchkey/acl.hpp>
#include <latchkey/boottime_clock.hpp>
#include <latchkey/client.hpp>
#include <latchkey/duration.hpp>
#include <latchkey/ensemble.hpp>
#include <latchkey/error.hpp>
#include <latchkey/fencing_token.hpp>
#include <latchkey/hold.hpp>
#include <latchkey/multi_mutex.hpp>
#include <latchkey/mutex.hpp>
#include <latchkey/participant.hpp>
#include <latchkey/recursive_mutex.hpp>
#include <latchkey/shared_mutex.hpp>
#include <latchkey/transaction.hpp>

#if defined(BOOST_CONFIG_HPP) || defined(BOOST_VERSION)
#error "a public header includes Boost"
#endif
#if defined(ZOOKEEPER_H_)
#error "a public header includes the C client"
#endif

#include <chrono>
#include <concepts>
#include <mutex>
#include <type_traits>
#include <utility>

#include <boost/chrono/chrono.hpp>
#include <boost/thread/lock_algorithms.hpp>
#include <boost/thread/lock_guard.hpp>
#include <boost/thread/lock_types.hpp>
#include <boost/thread/lockable_concepts.hpp>
#include <boost/thread/mutex.hpp>

namespace latchkey {
namespace {

template <class M>
concept basic_lockable = requires(M& m) {
    { m.lock() } -> std::same_as<void>;
    { m.unlock() } -> std::same_as<void>;
};

template <class M>
concept unlocks_always = requires(M& m) {
    { m.unlock() }
    noexcept;
};

static_assert(unlocks_always<mutex> && unlocks_always<shared_mutex> && unlocks_always<multi_mutex>);
static_assert(!unlocks_always<recursive_mutex>, "it tells the thread that has not locked it");

template <class M>
concept lockable = basic_lockable<M> && requires(M& m) {
    { m.try_lock() } -> std::same_as<bool>;
};

template <class M, class Duration, class TimePoint>
concept timed_lockable = lockable<M> && requires(M& m, const Duration& d, const TimePoint& t) {
    { m.try_lock_for(d) } -> std::same_as<bool>;
    { m.try_lock_until(t) } -> std::same_as<bool>;
};

template <class M>
constexpr bool timed_by_both_libraries() {
    namespace b = boost::chrono;
    namespace s = std::chrono;
    static_assert(timed_lockable<M, s::seconds, s::steady_clock::time_point>);
    static_assert(timed_lockable<M, s::duration<double>, s::system_clock::time_point>);
    static_assert(timed_lockable<M, s::hours, s::time_point<s::system_clock, s::hours>>);
    static_assert(timed_lockable<M, b::milliseconds, b::steady_clock::time_point>);
    static_assert(timed_lockable<M, b::duration<float>, b::system_clock::time_point>);
    return true;
}

static_assert(timed_by_both_libraries<mutex>() && timed_by_both_libraries<shared_mutex>() &&
              timed_by_both_libraries<multi_mutex>() && timed_by_both_libraries<recursive_mutex>());

// What is neither a duration nor a time point is refused where it is written.
template <class M, class What>
concept waits_for = requires(M& m, const What& w) {
    m.try_lock_for(w);
};

template <class M, class What>
concept waits_until = requires(M& m, const What& w) {
    m.try_lock_until(w);
};

static_assert(!waits_for<mutex, int>);
static_assert(!waits_for<mutex, std::chrono::steady_clock::time_point>);
static_assert(!waits_until<mutex, std::chrono::seconds>);

// A recipe is where it is; a hold moves and is never copied.
static_assert(!std::is_copy_constructible_v<mutex> && !std::is_move_constructible_v<mutex>);
static_assert(!std::is_copy_constructible_v<hold> && !std::is_copy_assignable_v<hold>);
static_assert(std::is_nothrow_move_constructible_v<hold> &&
              std::is_nothrow_move_assignable_v<hold>);
static_assert(std::is_nothrow_default_constructible_v<hold>);
static_assert(std::is_nothrow_destructible_v<hold> && std::is_nothrow_destructible_v<mutex>);
static_assert(std::is_nothrow_copy_constructible_v<client> &&
              std::is_nothrow_move_constructible_v<client>);

/// Never called: that it compiles and links is the test.
template <class M>
void guards_of_the_standard_library(M& a, M& b) {
    { const std::lock_guard<M> g(a); }
    { const std::scoped_lock g(a); }
    { const std::scoped_lock g(a, b); }
    { const std::unique_lock<M> g(a); }
    { const std::unique_lock<M> g(a, std::try_to_lock); }
    { const std::unique_lock<M> g(a, std::chrono::seconds(1)); }
    { const std::unique_lock<M> g(a, std::chrono::duration<double>(0.5)); }
    { const std::unique_lock<M> g(a, std::chrono::steady_clock::now()); }
    { const std::unique_lock<M> g(a, std::chrono::system_clock::time_point::max()); }
    std::lock(a, b);
}

template <class M>
void guards_of_boost(M& a, M& b) {
    BOOST_CONCEPT_ASSERT((boost::BasicLockable<M>));
    BOOST_CONCEPT_ASSERT((boost::Lockable<M>));
    { const boost::lock_guard<M> g(a); }
    { const boost::unique_lock<M> g(a); }
    { const boost::unique_lock<M> g(a, boost::try_to_lock); }
    { const boost::unique_lock<M> g(a, boost::chrono::milliseconds(5)); }
    { const boost::unique_lock<M> g(a, boost::chrono::steady_clock::now()); }
    { const boost::unique_lock<M> g(a, boost::chrono::system_clock::time_point::max()); }
    boost::lock(a, b);
    static_cast<void>(boost::try_lock(a, b));
}

}  // namespace

// That it compiles and links is all: there is nothing to run.

template <class M>
void guards_of_both_libraries(M& a, M& b) {
    guards_of_the_standard_library(a, b);
    guards_of_boost(a, b);
}

template void guards_of_both_libraries(mutex&, mutex&);
template void guards_of_both_libraries(shared_mutex&, shared_mutex&);
template void guards_of_both_libraries(multi_mutex&, multi_mutex&);
template void guards_of_both_libraries(recursive_mutex&, recursive_mutex&);

void mixed_guards(mutex& a, std::mutex& b, boost::mutex& c) {
    { const std::scoped_lock g(a, b); }
    boost::lock(a, c);
    static_cast<void>(a.try_lock_for(boost::chrono::seconds(1)));
    static_cast<void>(a.try_acquire_for(boost::chrono::seconds(1)));
    static_cast<void>(a.try_acquire_until(boost::chrono::steady_clock::now()));
    static_cast<void>(a.try_acquire_for(std::chrono::hours::max()));
}

}  // namespace latchkey
