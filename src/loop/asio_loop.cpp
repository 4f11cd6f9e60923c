#include "loop/asio_loop.hpp"

#include "loop/asio_descriptor.hpp"
#include "loop/background_thread.hpp"
#include "loop/callback_thread.hpp"
#include "loop/fork_guard.hpp"
#include "loop/monitor.hpp"
#include "loop/never_destroyed.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <map>
#include <new>
#include <random>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <vector>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/system/system_error.hpp>
#include <sys/timerfd.h>
#include <unistd.h>

namespace latchkey::inline v0 {
namespace {

thread_local const void* running_engine = nullptr;

std::mt19937_64 seeded_generator() {
    std::random_device device;
    std::array<std::random_device::result_type, 8> words{};
    std::generate(words.begin(), words.end(), [&device] { return device(); });
    std::seed_seq seed(words.begin(), words.end());
    return std::mt19937_64(seed);
}

int boottime_timerfd() {
    const int fd = ::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    if (fd < 0) {
        throw std::system_error(errno, std::generic_category(), "timerfd_create");
    }
    return fd;
}

}  // namespace

/// The memory of one operation of Asio, which is used again and again. Posting it cannot fail for
/// lack of memory. Only one operation at a time.
class reserved_operation {
public:
    template <class T>
    struct allocator {
        using value_type = T;

        explicit allocator(reserved_operation& r) noexcept : from(&r) {}

        template <class U>
        allocator(const allocator<U>& other) noexcept : from(other.from) {}  // NOLINT: implicit

        [[nodiscard]] T* allocate(std::size_t n) {
            static_assert(sizeof(T) <= size && alignof(T) <= alignof(std::max_align_t));
            return n == 1 ? static_cast<T*>(static_cast<void*>(from->memory_))
                          : throw std::bad_alloc();
        }

        void deallocate(T*, std::size_t) noexcept {}

        template <class U>
        bool operator==(const allocator<U>& other) const noexcept {
            return from == other.from;
        }

        reserved_operation* from;
    };

private:
    static constexpr std::size_t size = 128;

    alignas(std::max_align_t) std::byte memory_[size];
};

/// What the thread runs. It outlives the loop object if one of its own tasks destroys that object.
class asio_loop::engine {
public:
    engine() : alarm_(io_), random_(seeded_generator()) {
        using boost::system::error_code;
        if (const auto failed = assign_or_close<error_code>(alarm_, boottime_timerfd())) {
            throw std::system_error(failed, "timerfd");
        }
        await_alarm();
    }

    void start(const std::shared_ptr<engine>& self) {
        thread_ = background_thread("latchkey", [self] {
            running_engine = self.get();
            callback_thread::become_loop();
            self->io_.run();
        });
    }

    /// Ends the thread. Nothing runs on it after this, except the task that called this on the
    /// thread itself.
    void stop() {
        io_.stop();
        if (on_thread()) {
            thread_.detach();
        } else {
            thread_.join();
        }
        drop_everything();
    }

    void abandon_to_parent() { thread_.detach(); }

    void post(task t) {
        bool asleep = false;
        {
            const monitor_lock lock(mutex_);
            posted_.push_back(std::move(t));
            asleep = !std::exchange(scheduled_, true);
        }
        if (asleep) {
            wake();
        }
    }

    void post_next(task t) {
        if (in_batch_) {
            next_.push_back(std::move(t));
        } else {
            post(std::move(t));
        }
    }

    timer_id start_timer(clock::time_point at, task t) {
        const timer_id id = ++last_timer_;
        put(due_, spare_due_, id, at);
        put(timers_, spare_timer_, std::pair(at, id), std::move(t));
        set_alarm();
        return id;
    }

    void cancel_timer(timer_id id) noexcept {
        const auto found = due_.find(id);
        if (found != due_.end()) {
            // The alarm stays: an unneeded wake-up costs less than setting it again.
            auto node = timers_.extract({found->second, id});
            spare_due_ = due_.extract(found);
            const task dropped = std::move(node.mapped());  // destroyed last
            spare_timer_ = std::move(node);
        }
    }

    [[nodiscard]] std::uint64_t random() { return random_(); }

    [[nodiscard]] bool on_thread() const noexcept { return running_engine == this; }

    [[nodiscard]] boost::asio::io_context& io() noexcept { return io_; }

private:
    using timer_map = std::map<std::pair<clock::time_point, timer_id>, task>;
    using due_map = std::unordered_map<timer_id, clock::time_point>;

    /// Of a list of tasks that was longer, the memory is given back.
    static constexpr std::size_t longest_kept = 4096;

    struct wake_up {
        using allocator_type = reserved_operation::allocator<void>;

        [[nodiscard]] allocator_type get_allocator() const noexcept {
            return allocator_type(to.wake_up_);
        }

        void operator()() const { to.run_posted(); }

        engine& to;
    };

    /// Most timers are canceled soon, and followed by another one that can have their memory.
    template <class Map>
    static void put(Map& map,
                    typename Map::node_type& spare,
                    typename Map::key_type key,
                    typename Map::mapped_type value) {
        if (spare.empty()) {
            map.emplace(std::move(key), std::move(value));
            return;
        }
        spare.key() = std::move(key);
        spare.mapped() = std::move(value);
        map.insert(std::move(spare));
    }

    void run_posted() {
        {
            const monitor_lock lock(mutex_);
            running_.swap(posted_);
        }
        in_batch_ = true;
        run_all(running_);
        in_batch_ = false;
        run_all(next_);
        const monitor_lock lock(mutex_);
        // More was posted meanwhile. Sockets and timers get their turn first.
        scheduled_ = !posted_.empty();
        if (scheduled_) {
            wake();
        }
    }

    /// Both may be dropped meanwhile, by one of the tasks.
    static void run_all(std::vector<task>& tasks) {
        for (std::size_t i = 0; i < tasks.size(); ++i) {
            const task t = std::move(tasks[i]);
            t();
        }
        tasks.clear();
        if (tasks.capacity() > longest_kept) {
            std::vector<task>().swap(tasks);
        }
    }

    /// Makes run_posted() run. Never called twice before it has begun. Does not fail: otherwise the
    /// tasks would wait forever.
    void wake() noexcept { boost::asio::post(io_, wake_up{*this}); }

    void await_alarm() {
        alarm_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                          [this](const boost::system::error_code& ec) {
                              if (!ec) {
                                  run_timers();
                                  await_alarm();
                              }
                          });
    }

    void run_timers() {
        std::uint64_t expirations = 0;
        static_cast<void>(::read(alarm_.native_handle(), &expirations, sizeof expirations));
        alarm_at_ = clock::time_point::max();
        const auto now = clock::now();
        while (!timers_.empty() && timers_.begin()->first.first <= now) {
            const auto node = timers_.extract(timers_.begin());
            due_.erase(node.key().second);
            node.mapped()();
        }
        set_alarm();
    }

    void set_alarm() {
        if (timers_.empty() || timers_.begin()->first.first >= alarm_at_) {
            return;
        }
        alarm_at_ = timers_.begin()->first.first;
        // Zero would switch the alarm off.
        const auto at = std::max(alarm_at_.time_since_epoch(), clock::duration(1));
        const auto whole = std::chrono::floor<std::chrono::seconds>(at);
        itimerspec spec{};
        spec.it_value.tv_sec = whole.count();
        spec.it_value.tv_nsec = (at - whole).count();
        ::timerfd_settime(alarm_.native_handle(), TFD_TIMER_ABSTIME, &spec, nullptr);
    }

    /// Closures may own objects that use the loop, so they are destroyed while it exists.
    void drop_everything() {
        for (;;) {
            auto running = std::exchange(running_, {});
            auto next = std::exchange(next_, {});
            auto timers = std::exchange(timers_, {});
            due_.clear();
            std::vector<task> posted;
            {
                const monitor_lock lock(mutex_);
                posted.swap(posted_);
                scheduled_ = true;
            }
            if (running.empty() && next.empty() && timers.empty() && posted.empty()) {
                return;
            }
        }
    }

    reserved_operation wake_up_;  ///< in use from wake() until run_posted() begins
    boost::asio::io_context io_{1};
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{
        io_.get_executor()};
    boost::asio::posix::stream_descriptor alarm_;
    clock::time_point alarm_at_ = clock::time_point::max();
    timer_map timers_;
    due_map due_;
    timer_map::node_type spare_timer_;
    due_map::node_type spare_due_;
    timer_id last_timer_ = 0;
    std::mt19937_64 random_;
    std::vector<task> running_;
    std::vector<task> next_;  ///< from post_next()
    bool in_batch_ = false;

    thread_mutex mutex_;
    std::vector<task> posted_;
    bool scheduled_ = false;

    background_thread thread_;
};

asio_loop::asio_loop() : born_(fork_generation()) {
    try {
        engine_ = std::make_shared<engine>();
    } catch (const boost::system::system_error& e) {
        throw std::system_error(e.code(), e.what());
    }
    engine_->start(engine_);
}

asio_loop::~asio_loop() {
    if (born_ == fork_generation()) {
        engine_->stop();
        return;
    }
    // Closing the descriptors, above all the epoll set, would affect the parent process.
    engine_->abandon_to_parent();
    leave_undestroyed(std::move(engine_));
}

void asio_loop::post(task t) {
    if (born_ == fork_generation()) {
        engine_->post(std::move(t));
    }
}

loop::timer_id asio_loop::start_timer(clock::time_point at, task t) {
    return engine_->start_timer(at, std::move(t));
}

void asio_loop::cancel_timer(timer_id id) noexcept {
    engine_->cancel_timer(id);
}

std::uint64_t asio_loop::random() {
    return engine_->random();
}

bool asio_loop::on_loop() const noexcept {
    return engine_->on_thread();
}

void asio_loop::post_next(task t) {
    engine_->post_next(std::move(t));
}

std::unique_ptr<descriptor_watch> asio_loop::watch(int descriptor) {
    return asio_descriptor(engine_->io(), descriptor);
}

}  // namespace latchkey::inline v0
