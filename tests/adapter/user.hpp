#pragma once

#include "ensemble/random_source.hpp"
#include "ensemble/virtual_loop.hpp"
#include "io_loop.hpp"
#include "name_service.hpp"
#include "network.hpp"
#include "session.hpp"
#include "simulation.hpp"

#include <cstdint>
#include <deque>
#include <iosfwd>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace latchkey::test {

/// Counts what it has allocated: also what only weak references keep.
template <class T>
struct counting_allocator {
    using value_type = T;

    explicit counting_allocator(std::shared_ptr<long> count) : live(std::move(count)) {}

    template <class U>
    counting_allocator(const counting_allocator<U>& other)
        : live(other.live) {}  // NOLINT: implicit

    [[nodiscard]] T* allocate(std::size_t n) {
        ++*live;
        return std::allocator<T>().allocate(n);
    }

    void deallocate(T* p, std::size_t n) {
        --*live;
        std::allocator<T>().deallocate(p, n);
    }

    template <class U>
    bool operator==(const counting_allocator<U>& other) const noexcept {
        return live == other.live;
    }

    std::shared_ptr<long> live;
};

/// What users of a run share.
struct adapter_stage {
    testing::ensemble& servers;
    network& net;
    model::random_source random;
    adapter_run& result;
    std::ostream* tale;
    bool faults = true;                 ///< still come
    bool survivable = false;            ///< connections break, and one server can always be reached
    std::set<std::int64_t> taken_away;  ///< sessions that the servers replaced
    name_service& names;
    bool named = false;  ///< servers are given by names
    bool large = false;  ///< some requests are

    void broken(const char* promise, const std::string& what);
    void tell(const std::string& what) const;

    [[nodiscard]] bool chance(unsigned percent) { return random.below(100) < percent; }
};

/// One program: sessions one after the other, requests of all kinds on them, and what a session
/// promises is checked with each answer.
class adapter_user {
public:
    static constexpr int many = 200;

    adapter_user(adapter_stage& stage, int number, std::chrono::milliseconds timeout);
    ~adapter_user();
    adapter_user(const adapter_user&) = delete;
    adapter_user& operator=(const adapter_user&) = delete;

    [[nodiscard]] const std::shared_ptr<virtual_loop::process>& process() { return process_; }

    [[nodiscard]] bool connected() const { return connected_; }

    [[nodiscard]] std::int64_t id() const { return id_; }

    /// No more requests; the session stays.
    void rest() { resting_ = true; }

    [[nodiscard]] bool idle() const { return unanswered_ == 0; }

    /// After the run: what should have been told has been told.
    void check_watches();
    /// After the run: the session has let go of what it was asked.
    void check_memory();

    /// Watches `/many/iN`, each N below `many`, and forgets most of these watches.
    void watch_many();
    /// When these are answered: few are kept.
    void check_watches_kept();

    /// Ends the session, if it is not over.
    void close();

    [[nodiscard]] bool over() const { return over_; }

private:
    struct question;
    struct watched;

    void open();
    void on_event(const session_event& e);
    void on_connected(const session_event& e);
    void on_expired();
    void check_pace();
    void act();
    void ask_something();
    void ask(request r, bool watch);
    void answered(question& q, reply r);
    void check_answer(const question& q, const reply& r);
    void note(const std::string& what) const;
    [[nodiscard]] name_resolver counted(name_resolver asked);

    adapter_stage& stage_;
    const int number_;
    const std::chrono::milliseconds timeout_;
    std::shared_ptr<virtual_loop::process> process_;
    std::shared_ptr<io_loop> loop_;
    std::unique_ptr<session_factory> sessions_;
    std::unique_ptr<session> session_;
    timer next_act_;
    int generation_ = 0;
    std::int64_t id_ = 0;
    bool connected_ = false;
    bool over_ = false;
    std::chrono::nanoseconds suspended_at_{};
    std::chrono::nanoseconds first_trouble_{};
    int troubles_ = 0;  ///< since it was connected
    std::chrono::nanoseconds first_look_up_{};
    int look_ups_ = 0;  ///< of this session
    int attempts_ = 0;  ///< that failed
    bool closing_ = false;
    bool resting_ = false;
    bool in_callback_ = false;
    std::uint64_t asked_ = 0;
    std::uint64_t last_definite_ = 0;
    std::size_t unanswered_ = 0;
    std::int64_t last_czxid_ = 0;
    std::map<std::string, std::int64_t> seen_;  ///< the newest mzxid of each path, this session
    std::deque<std::string> own_;               ///< sequential znodes
    std::shared_ptr<int> kept_ = std::make_shared<int>(0);  ///< by each completion
    std::shared_ptr<long> watches_kept_ = std::make_shared<long>(0);
    std::vector<std::shared_ptr<watched>> watches_;
    std::vector<std::shared_ptr<question>> questions_;
};

}  // namespace latchkey::test
