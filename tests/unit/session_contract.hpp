#pragma once

#include "session/runtime.hpp"
#include "uncopied.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

// What every implementation of `session` promises, stated once (session_contract_*_test.cpp) and
// held against each: a program links the statements and instantiates `SessionContract` with its
// ensemble.

namespace latchkey::test {

inline constexpr auto plain = create_mode::persistent;
inline constexpr auto numbered = create_mode::persistent_sequential;
inline constexpr auto ephemeral = create_mode::ephemeral;
inline constexpr auto ephemeral_numbered = create_mode::ephemeral_sequential;

/// One client program, as far as its session's surroundings go.
class contract_client : public uncopied {
public:
    [[nodiscard]] virtual runtime surroundings() = 0;
    [[nodiscard]] virtual std::vector<session_options::endpoint> servers() = 0;

    /// Breaks its connection and keeps it from coming back until let_back().
    virtual void cut_off(std::int64_t session) = 0;
    virtual void let_back(std::int64_t session) = 0;

    /// The servers end the session; the client learns it at its next connection, which comes soon.
    virtual void expire(std::int64_t session) = 0;
};

/// An ensemble that the contract is held against.
class contract_ensemble : public uncopied {
public:
    [[nodiscard]] virtual std::unique_ptr<contract_client> make_client() = 0;

    /// A session timeout that no delay of the test machine exceeds.
    [[nodiscard]] virtual std::chrono::milliseconds timeout() = 0;

    /// A path that no other test uses; its parent exists, it does not.
    [[nodiscard]] virtual std::string fresh_path() = 0;

    /// Whether its servers are like 3.8.4, 3.9.2 and newer in this.
    [[nodiscard]] virtual bool exists_needs_read() = 0;

    /// Lets the ensemble and its clients run until `done()`; false if that takes far too long.
    [[nodiscard]] virtual bool wait(const std::function<bool()>& done) = 0;
};

/// A session under test, and a journal of all that it told.
class subject {
public:
    explicit subject(contract_ensemble& e, std::vector<session_options::identity> identities = {});

    ~subject() { destroy(); }

    subject(const subject&) = delete;
    subject& operator=(const subject&) = delete;

    [[nodiscard]] bool wait_connected() { return wait_for("connected"); }

    [[nodiscard]] std::int64_t id() const;

    void cut_off() { client_->cut_off(id()); }

    void let_back() { client_->let_back(id()); }

    void expire() { client_->expire(id()); }

    /// Submits and waits for the answer. A request whose connection broke is not repeated.
    reply ask(request r, const std::shared_ptr<session::watcher>& w = nullptr);

    /// Runs `f` on the loop; what it sends goes out together.
    void on_loop(const std::function<void()>& f);

    /// On the loop: submits; the answer is written down as "label:code".
    void send(const std::string& label,
              request r,
              const std::shared_ptr<session::watcher>& w = nullptr);

    /// A watcher that writes down "label:event".
    [[nodiscard]] std::shared_ptr<session::watcher> watcher(const std::string& label);

    /// On the loop. `closed` is written down when it is done.
    void close() {
        session_->close([this] { note("closed"); });
    }

    void reconnect() { session_->reconnect(); }

    /// The session object goes; nothing may be told any more.
    void destroy() {
        on_loop([&] { destroy_here(); });
    }

    /// The same, on the loop.
    void destroy_here();
    [[nodiscard]] bool destroyed() const;

    [[nodiscard]] std::vector<std::string> journal() const;
    [[nodiscard]] std::size_t count(const std::string& entry) const;
    /// The entries that begin so, e.g. with "label:".
    [[nodiscard]] std::vector<std::string> entries(const std::string& prefix) const;

    [[nodiscard]] bool wait_for(const std::string& entry, std::size_t times = 1) {
        return ensemble_.wait([&] { return count(entry) >= times; });
    }

    [[nodiscard]] std::optional<reply> answer(const std::string& label) const;

private:
    void note(const std::string& entry);
    void told(const session_event& e);

    contract_ensemble& ensemble_;
    std::unique_ptr<contract_client> client_;
    runtime environment_;
    std::unique_ptr<session> session_;
    mutable std::mutex mutex_;  // guards what follows
    std::vector<std::string> journal_;
    std::map<std::string, reply> answers_;
    std::int64_t id_ = 0;
    bool destroyed_ = false;
};

struct contract_parameter {
    std::string name;
    std::function<std::unique_ptr<contract_ensemble>()> make;
};

inline std::ostream& operator<<(std::ostream& out, const contract_parameter& p) {
    return out << p.name;
}

/// The steps of a scenario and what comes of them, as in
/// "numbered n- -> n-0000000000; bob: remove n-0000000000; get n-0000000000 -> no_node".
///
/// A step is a request for a znode below the directory of the scenario ("/" is the directory):
///
///     create, numbered, ephemeral, container PATH[=DATA][ for ACCESS]
///     get, exists, stat, list, remove PATH[@VERSION]
///     check, set PATH[=DATA][@VERSION]
///     watch, watch-list PATH by LABEL   reads with a watcher
///     told by LABEL   the events, as in "changed deleted"; waits for as many as are expected
///     drop by LABEL   the watcher
///     break           the connection, and waits for the next one
///
/// Requests with " & " between them are a transaction. "bob:" before a step: by another session,
/// with the identity bob; it sees what was answered before. ACCESS is "creator", or "r",
/// "w", "c" or "rc" for everybody. Without " -> " a step has to succeed.
struct contract_scenario {
    const char* claim;
    std::string steps;
};

class SessionContract : public ::testing::TestWithParam<contract_parameter> {
protected:
    void SetUp() override;

    /// Each scenario, in a directory of its own, goes as it is written.
    void expect_kept(const std::vector<contract_scenario>& all);

    /// A path below the test's own directory, which exists.
    [[nodiscard]] std::string at(const std::string& name) const { return base_ + "/" + name; }

    [[nodiscard]] const std::string& base() const { return base_; }

    /// One more session, connected.
    [[nodiscard]] std::unique_ptr<subject> another(
        std::vector<session_options::identity> identities = {});

    [[nodiscard]] static request create(const std::string& path,
                                        create_mode mode = create_mode::persistent,
                                        const std::string& data = {},
                                        acl access = open_unsafe_acl()) {
        return request::create(path, data, mode, std::move(access));
    }

    /// The session sees all that was answered before, whatever server it talks to. By a write: a
    /// `sync` on a leader may not be behind what followers have answered.
    void catch_up(subject& s) { s.ask(request::multi({request::check(base())})); }

    /// The same first.
    [[nodiscard]] bool gone(subject& s, const std::string& path) {
        catch_up(s);
        return s.ask(request::exists(path)).code == result_code::no_node;
    }

    [[nodiscard]] bool wait(const std::function<bool()>& done) { return ensemble_->wait(done); }

    std::unique_ptr<contract_ensemble> ensemble_;
    std::unique_ptr<subject> main_;
    std::string base_;
};

[[nodiscard]] std::string text_of(result_code c);

}  // namespace latchkey::test

namespace latchkey {

inline void PrintTo(result_code c, std::ostream* out) {
    *out << test::text_of(c);
}

}  // namespace latchkey
