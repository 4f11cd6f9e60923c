#include "session_contract.hpp"

#include "make_watcher.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

namespace latchkey::test {

std::string text_of(result_code c) {
    static const std::map<result_code, const char*> texts{
        {result_code::ok, "ok"},
        {result_code::connection_loss, "lost"},
        {result_code::operation_timeout, "lost"},
        {result_code::runtime_inconsistency, "lost"},
        {result_code::session_expired, "expired"},
        {result_code::closing, "closing"},
        {result_code::no_node, "no_node"},
        {result_code::node_exists, "node_exists"},
        {result_code::not_empty, "not_empty"},
        {result_code::bad_version, "bad_version"},
        {result_code::no_auth, "no_auth"},
        {result_code::invalid_acl, "invalid_acl"},
        {result_code::no_children_for_ephemerals, "no_children_for_ephemerals"},
        {result_code::bad_arguments, "bad_arguments"}};
    const auto found = texts.find(c);
    return found == texts.end() ? std::to_string(static_cast<int>(c)) : found->second;
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
    static const std::map<session_event::kind, const char*> names{
        {session_event::kind::connected, "connected"},
        {session_event::kind::suspended, "suspended"},
        {session_event::kind::expired, "expired"},
        {session_event::kind::auth_failed, "auth_failed"}};
    // Troubles are as many as there happen to be.
    if (const auto name = names.find(e.what); name != names.end()) {
        const std::lock_guard<std::mutex> lock(mutex_);
        id_ = e.what == session_event::kind::connected ? e.id : id_;
        journal_.emplace_back(name->second);
    }
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

std::unique_ptr<subject> SessionContract::another(
    std::vector<session_options::identity> identities) {
    auto made = std::make_unique<subject>(*ensemble_, std::move(identities));
    EXPECT_TRUE(made->wait_connected());
    return made;
}

}  // namespace latchkey::test
