#pragma once

#include <latchkey/client_options.hpp>

#include "loop/asio_loop.hpp"
#include "session/session.hpp"
#include "zookeeper/name_resolution.hpp"

#include <chrono>
#include <cstddef>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace latchkey::test {

/// One session on a loop of its own, used from the test's thread: its events are recorded,
/// answers are futures.
class session_probe {
public:
    using kind = session_event::kind;

    /// `destroy_at`: the event whose handler destroys the session, if any.
    explicit session_probe(session_options options,
                           std::optional<kind> destroy_at = std::nullopt,
                           name_resolver resolver = &resolve_name);
    /// `servers` is "host:port,..."
    explicit session_probe(const std::string& servers,
                           std::chrono::milliseconds timeout = std::chrono::seconds(6),
                           std::optional<kind> destroy_at = std::nullopt);

    /// With TLS.
    session_probe(session_options options, const tls_options& tls)
        : session_probe(std::move(options), &resolve_name, tls) {}

    session_probe(session_options options, name_resolver resolver, const tls_options& tls);
    /// Drops the session.
    ~session_probe();
    session_probe(const session_probe&) = delete;
    session_probe& operator=(const session_probe&) = delete;

    /// Runs `f()` on the loop and returns what it returns.
    template <class F>
    auto on_loop(F f) {
        std::packaged_task<decltype(f())()> work(std::move(f));
        auto result = work.get_future();
        loop_->post([&work] { work(); });
        return result.get();
    }

    /// The session itself; on the loop only.
    [[nodiscard]] latchkey::session& session() { return *session_; }

    [[nodiscard]] asio_loop& loop() { return *loop_; }

    [[nodiscard]] std::future<reply> submit(request r);
    [[nodiscard]] std::future<reply> submit(request r, const std::shared_ptr<session::watcher>& w);

    /// submit() and wait; throws std::runtime_error when there is no answer for 30 s.
    reply call(request r) { return awaited(submit(std::move(r))); }

    [[nodiscard]] static reply awaited(std::future<reply> answer);

    [[nodiscard]] std::future<void> close();
    void drop();

    /// drop() for callbacks, which run on the loop.
    void destroy_here() { session_.reset(); }

    [[nodiscard]] std::vector<session_event> events() const;
    [[nodiscard]] std::size_t count(kind what) const;
    /// Waits until `what` was reported `times` times; false when it was not within 30 s.
    [[nodiscard]] bool wait_for(kind what, std::size_t times = 1) const;
    /// The last one reported; wait for it first.
    [[nodiscard]] session_event last(kind what) const;

private:
    void open(const session_options& options, std::optional<kind> destroy_at);

    std::shared_ptr<asio_loop> loop_;
    std::unique_ptr<session_factory> factory_;
    std::unique_ptr<latchkey::session> session_;
    mutable std::mutex mutex_;
    std::vector<session_event> events_;
};

[[nodiscard]] session_options options_for(
    const std::string& servers, std::chrono::milliseconds timeout = std::chrono::seconds(6));

}  // namespace latchkey::test
