#include "session_contract.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

namespace latchkey::test {

std::string text_of(result_code c) {
    switch (c) {
        case result_code::ok:
            return "ok";
        case result_code::connection_loss:
        case result_code::operation_timeout:
        case result_code::runtime_inconsistency:
            return "lost";
        case result_code::session_expired:
            return "expired";
        case result_code::closing:
            return "closing";
        case result_code::no_node:
            return "no_node";
        case result_code::node_exists:
            return "node_exists";
        case result_code::bad_arguments:
            return "bad_arguments";
        default:
            return std::to_string(static_cast<int>(c));
    }
}

subject::subject(contract_ensemble& e, std::vector<session_options::identity> identities)
    : ensemble_(e), client_(e.make_client()), environment_(client_->surroundings()) {
    session_options options;
    options.servers = client_->servers();
    options.timeout = e.timeout();
    options.identities = std::move(identities);
    on_loop([&] {
        session_ =
            environment_.sessions->open(options, [this](const session_event& s) { told(s); });
    });
}

subject::~subject() {
    destroy();
}

void subject::destroy() {
    on_loop([&] { destroy_here(); });
}

void subject::destroy_here() {
    session_ = nullptr;
    const std::lock_guard<std::mutex> lock(mutex_);
    destroyed_ = true;
}

bool subject::destroyed() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return destroyed_;
}

void subject::on_loop(const std::function<void()>& f) {
    const auto done = std::make_shared<std::atomic<bool>>(false);
    environment_.loop->post([&f, done] {
        f();
        *done = true;
    });
    if (!ensemble_.wait([&] { return done->load(); })) {
        ADD_FAILURE() << "the loop does not run";
        std::terminate();  // the task refers to this frame
    }
}

void subject::note(const std::string& entry) {
    const std::lock_guard<std::mutex> lock(mutex_);
    journal_.push_back(entry);
}

void subject::told(const session_event& e) {
    switch (e.what) {
        case session_event::kind::connected: {
            const std::lock_guard<std::mutex> lock(mutex_);
            id_ = e.id;
            journal_.emplace_back("connected");
            break;
        }
        case session_event::kind::suspended:
            return note("suspended");
        case session_event::kind::expired:
            return note("expired");
        case session_event::kind::auth_failed:
            return note("auth_failed");
        case session_event::kind::trouble:
            break;  // as many as there happen to be
    }
}

bool subject::wait_connected() {
    return wait_for("connected");
}

std::int64_t subject::id() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return id_;
}

reply subject::ask(request r, const std::shared_ptr<session::watcher>& w) {
    static std::atomic<int> number{0};
    const std::string label = "ask" + std::to_string(++number);
    on_loop([&] { send(label, std::move(r), w); });
    EXPECT_TRUE(ensemble_.wait([&] { return answer(label).has_value(); })) << "no answer";
    return answer(label).value_or(reply{});
}

void subject::send(const std::string& label,
                   request r,
                   const std::shared_ptr<session::watcher>& w) {
    auto done = [this, label](reply a) {
        const std::lock_guard<std::mutex> lock(mutex_);
        journal_.push_back(label + ":" + text_of(a.code));
        answers_[label] = std::move(a);
    };
    if (w != nullptr) {
        session_->submit(std::move(r), w, std::move(done));
    } else {
        session_->submit(std::move(r), std::move(done));
    }
}

std::shared_ptr<session::watcher> subject::watcher(const std::string& label) {
    return make_watcher([this, label](watch_event e) {
        note(label + (e == watch_event::deleted   ? ":deleted"
                      : e == watch_event::changed ? ":changed"
                                                  : ":children"));
    });
}

void subject::close() {
    session_->close([this] { note("closed"); });
}

void subject::reconnect() {
    session_->reconnect();
}

std::vector<std::string> subject::journal() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return journal_;
}

std::size_t subject::count(const std::string& entry) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return static_cast<std::size_t>(std::count(journal_.begin(), journal_.end(), entry));
}

std::vector<std::string> subject::entries(const std::string& prefix) const {
    std::vector<std::string> all = journal();
    std::erase_if(all, [&](const std::string& e) { return !e.starts_with(prefix); });
    return all;
}

bool subject::wait_for(const std::string& entry, std::size_t times) {
    return ensemble_.wait([&] { return count(entry) >= times; });
}

std::optional<reply> subject::answer(const std::string& label) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = answers_.find(label);
    return found == answers_.end() ? std::nullopt : std::optional(found->second);
}

void SessionContract::SetUp() {
    ensemble_ = GetParam().make();
    base_ = ensemble_->fresh_path();
    main_ = another();
    ASSERT_EQ(main_->ask(create(base_)).code, result_code::ok);
}

void SessionContract::TearDown() {
    main_ = nullptr;
    ensemble_ = nullptr;
}

std::unique_ptr<subject> SessionContract::another(
    std::vector<session_options::identity> identities) {
    auto made = std::make_unique<subject>(*ensemble_, std::move(identities));
    EXPECT_TRUE(made->wait_connected());
    return made;
}

request SessionContract::create(const std::string& path,
                                create_mode mode,
                                const std::string& data,
                                acl access) {
    return request::create(path, data, mode, std::move(access));
}

bool SessionContract::gone(subject& s, const std::string& path) {
    catch_up(s);
    return s.ask(request::exists(path)).code == result_code::no_node;
}

}  // namespace latchkey::test
