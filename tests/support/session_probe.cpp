#include "session_probe.hpp"

#include "eventually.hpp"
#include "tls/tls_identity.hpp"
#include "words.hpp"
#include "zookeeper/zookeeper_session.hpp"

#include <algorithm>
#include <stdexcept>

#ifdef __SANITIZE_THREAD__
// The log of the C client has buffers that are static. A program calls it on one thread, the loop;
// each probe has a loop of its own.
extern "C" const char* __tsan_default_suppressions() {
    return "race:log_message\nrace:format_endpoint_info\n";
}
#endif

namespace latchkey::test {

using namespace std::chrono_literals;

session_options options_for(const std::string& servers, std::chrono::milliseconds timeout) {
    session_options options;
    options.timeout = timeout;
    for (const std::string& one : parts_of(servers, ',')) {
        const auto colon = one.rfind(':');
        options.servers.push_back(
            {one.substr(0, colon), static_cast<std::uint16_t>(std::stoi(one.substr(colon + 1)))});
    }
    return options;
}

session_probe::session_probe(session_options options,
                             std::optional<kind> destroy_at,
                             name_resolver resolver)
    : loop_(std::make_shared<asio_loop>()),
      factory_(std::make_unique<zookeeper_sessions>(loop_, std::move(resolver))) {
    open(options, destroy_at);
}

session_probe::session_probe(session_options options,
                             name_resolver resolver,
                             const tls_options& tls)
    : loop_(std::make_shared<asio_loop>()),
      factory_(std::make_unique<zookeeper_sessions>(
          loop_, std::move(resolver), std::make_shared<tls_identity>(loop_, tls))) {
    open(options, std::nullopt);
}

void session_probe::open(const session_options& options, std::optional<kind> destroy_at) {
    on_loop([&] {
        session_ = factory_->open(options, [this, destroy_at](const session_event& e) {
            if (e.what == destroy_at) {
                destroy_here();
            }
            const std::lock_guard lock(mutex_);
            events_.push_back(e);
        });
    });
}

session_probe::session_probe(const std::string& servers,
                             std::chrono::milliseconds timeout,
                             std::optional<kind> destroy_at)
    : session_probe(options_for(servers, timeout), destroy_at) {}

session_probe::~session_probe() {
    drop();
}

std::future<reply> session_probe::submit(request r) {
    auto answer = std::make_shared<std::promise<reply>>();
    auto result = answer->get_future();
    loop_->post([this, r = std::move(r), answer] {
        session_->submit(r, [answer](reply x) { answer->set_value(std::move(x)); });
    });
    return result;
}

std::future<reply> session_probe::submit(request r, const std::shared_ptr<session::watcher>& w) {
    auto answer = std::make_shared<std::promise<reply>>();
    auto result = answer->get_future();
    loop_->post([this, r = std::move(r), w, answer] {
        session_->submit(r, w, [answer](reply x) { answer->set_value(std::move(x)); });
    });
    return result;
}

reply session_probe::awaited(std::future<reply> answer) {
    const auto comes = [&] { return answer.wait_for(0s) == std::future_status::ready; };
    if (!eventually(comes)) {
        throw std::runtime_error("no answer within 30 s");
    }
    return answer.get();
}

std::future<void> session_probe::close() {
    auto done = std::make_shared<std::promise<void>>();
    auto result = done->get_future();
    loop_->post([this, done] { session_->close([done] { done->set_value(); }); });
    return result;
}

void session_probe::drop() {
    on_loop([this] { session_.reset(); });
}

std::vector<session_event> session_probe::events() const {
    const std::lock_guard lock(mutex_);
    return events_;
}

std::size_t session_probe::count(kind what) const {
    const auto all = events();
    return static_cast<std::size_t>(
        std::count_if(all.begin(), all.end(), [what](const auto& e) { return e.what == what; }));
}

bool session_probe::wait_for(kind what, std::size_t times) const {
    return eventually([&] { return count(what) >= times; });
}

session_event session_probe::last(kind what) const {
    const auto all = events();
    const auto found =
        std::find_if(all.rbegin(), all.rend(), [what](const auto& e) { return e.what == what; });
    if (found == all.rend()) {
        throw std::runtime_error("no such event");
    }
    return *found;
}

}  // namespace latchkey::test
