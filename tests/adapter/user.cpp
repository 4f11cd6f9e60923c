#include "user.hpp"

#include "drawn_request.hpp"
#include "ensemble/ensemble_access.hpp"
#include "simulated_loop.hpp"
#include "zookeeper/zookeeper_session.hpp"

#include <algorithm>
#include <utility>

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;

std::string code_of(result_code c) {
    return std::to_string(static_cast<int>(c));
}

/// Not of the request itself.
bool definite(result_code c) {
    return !outcome_unknown(c);
}

}  // namespace

struct adapter_user::question {
    std::uint64_t number;
    int generation;
    request what;
    std::shared_ptr<user_watches::watched> watch;
    bool done = false;
    std::chrono::nanoseconds at;
    bool calm;  ///< nothing was wrong when it was asked
};

adapter_user::adapter_user(adapter_stage& stage, int number, std::chrono::milliseconds timeout)
    : stage_(stage),
      number_(number),
      timeout_(timeout),
      process_(virtual_process::make(
          {std::shared_ptr<void>(), &testing::ensemble_access::loop_of(stage.servers)})),
      loop_(make_simulated_loop(stage.net, process_)),
      names_(stage),
      sessions_(std::make_unique<zookeeper_sessions>(loop_, names_.resolver())),
      next_act_(*loop_),
      give_up_(*loop_),
      close_limit_(*loop_),
      watches_(stage) {
    open();
    next_act_.start(1ms, [this] { act(); });
}

adapter_user::~adapter_user() {
    session_ = nullptr;
}

void adapter_user::note(const std::string& what) const {
    stage_.tell("  " + std::to_string(number_) + ": " + what);
}

void adapter_user::open() {
    ++generation_;
    id_ = 0;
    connected_ = over_ = closing_ = false;
    close_limit_.cancel();
    give_up_.cancel();
    barrier_awaited_ = false;
    troubles_ = 0;
    names_.begin();
    watches_.end_all();
    last_definite_ = asked_;
    seen_.clear();
    own_.clear();
    session_options options;
    options.timeout = timeout_;
    const int servers = testing::ensemble_access::cluster_of(stage_.servers).size();
    if (stage_.named) {
        options.servers = name_service::endpoints(servers);
    }
    for (int i = 0; i < servers && !stage_.named; ++i) {
        options.servers.push_back({network::address_of(i, 0), 2181});
    }
    if (stage_.chance(30)) {
        options.prefer = stage_.chance(50) ? server_preference::leader : server_preference::near;
        options.is_idle = [this] { return !stage_.quiet && unanswered_ == 0 && stage_.chance(50); };
    }
    session_ = sessions_->open(options, [this, g = generation_](const session_event& e) {
        if (g != generation_ || session_ == nullptr) {
            stage_.broken("A7", "an event of a session that is gone");
            return;
        }
        on_event(e);
    });
}

void adapter_user::on_event(const session_event& e) {
    stage_.broken_if(over_ && e.what != session_event::kind::trouble,
                     "A7",
                     "an event after the end of the session");
    switch (e.what) {
        case session_event::kind::connected:
            return on_connected(e);
        case session_event::kind::suspended:
            note("suspended");
            stage_.broken_if(!connected_, "A7", "suspended without being connected");
            connected_ = false;
            suspended_at_ = stage_.servers.now();
            barrier_awaited_ = false;
            watches_.end_all();
            stage_.broken_if(stage_.quiet, "A10", "a connection breaks while all is well");
            return stage_.faults && stage_.chance(3) ? drop() : void();
        case session_event::kind::expired:
            return on_expired();
        case session_event::kind::auth_failed:
            return stage_.broken("A7", "credentials refused that were not shown");
        case session_event::kind::trouble:
            note("trouble: " + e.detail);
            stage_.result.malformed += e.why != session_event::cause::unreachable ? 1 : 0;
            if (e.detail.starts_with("cannot resolve")) {
                return;  // it may have been asked long ago
            }
            names_.attempted();
            stage_.broken_if(connected_, "A7", "an attempt failed while connected");
            return check_pace();
    }
}

/// Attempts that fail are followed by pauses: a round of three by T/40 at least.
void adapter_user::check_pace() {
    const auto now = stage_.servers.now();
    first_trouble_ = troubles_++ == 0 ? now : first_trouble_;
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(now - first_trouble_).count();
    stage_.broken_if(troubles_ > 10 + 50 * seconds, "A11", "attempts to connect without a pause");
}

void adapter_user::on_connected(const session_event& e) {
    note("connected as " + std::to_string(e.id & 0xffff));
    ++stage_.result.connected;
    ++connections_;
    stage_.broken_if(connected_, "A7", "connected twice");
    stage_.broken_if(id_ != 0 && e.id != id_, "A8", "another session without a word");
    stage_.broken_if(e.id == 0 || e.timeout != timeout_,
                     "A8",
                     "connected without a session, or with another timeout");
    if (id_ != 0 && e.id != id_) {
        seen_.clear();
    }
    stage_.broken_if(
        stage_.survivable && id_ != 0 && stage_.servers.now() - suspended_at_ > timeout_ * 2 / 3,
        "A10",
        "it took long to come back to a server that can be reached");
    connected_ = true;
    if (id_ == e.id) {
        // As the client does: what is read behind it is no older than what was seen.
        request barrier = request::multi({request::check("/")});
        barrier.urgent = true;
        barrier_awaited_ = true;
        session_->submit(std::move(barrier), [this, n = connections_](const reply&) {
            barrier_awaited_ = barrier_awaited_ && connections_ != n;
        });
    }
    id_ = e.id;
    troubles_ = 0;
    names_.attempted();
    if (!resting_ && stage_.chance(50)) {
        ask_something();
    }
}

void adapter_user::on_expired() {
    note("expired");
    ++stage_.result.expired;
    over_ = true;
    connected_ = false;
    // A leader that others have left, and does not know it yet, may know no better.
    stage_.broken_if(stage_.survivable || id_ == 0 || stage_.net.wrongly_unknown(id_),
                     "A9",
                     "expired, and the session lives, or should");
}

// ---- requests ----

void adapter_user::act() {
    next_act_.start(std::chrono::microseconds(500 + stage_.random.below(100'000)),
                    [this] { act(); });
    if (over_ && idle() && !resting_) {
        session_ = nullptr;
        return open();
    }
    if (session_ == nullptr || closing_ || resting_) {
        return;
    }
    for (std::uint64_t i = stage_.random.below(8); i > 0; --i) {
        ask_something();
    }
    if (stage_.faults && stage_.chance(1)) {
        reconnect();
    } else if (stage_.faults && stage_.chance(1)) {
        close();
    } else if (stage_.faults && stage_.random.below(300) == 0) {
        drop();
    }
}

void adapter_user::reconnect() {
    note("reconnect()");
    session_->reconnect();
    if (connected_) {
        give_up_.start(1s, [this, n = connections_] {
            stage_.broken_if(
                connected_ && connections_ == n, "A10", "a connection that was given up lives on");
        });
    }
}

/// What was asked is never answered.
void adapter_user::drop() {
    note("dropped");
    session_ = nullptr;
    unanswered_ = 0;
    open();
}

void adapter_user::ask_something() {
    const std::string text = "#" + std::to_string(number_) + "." + std::to_string(asked_);
    if (auto drawn = draw_request(stage_.random, text, own_, stage_.large)) {
        ask(std::move(drawn->what), drawn->watch);
    }
}

void adapter_user::ask(request r, bool watch) {
    auto q = std::make_shared<question>();
    q->number = ++asked_;
    q->generation = generation_;
    q->what = r;
    q->at = stage_.servers.now();
    q->calm = connected_ && !stage_.faults;
    if (watch) {
        q->watch = watches_.make(r);
    }
    ++unanswered_;
    std::erase_if(questions_, [](const auto& asked) { return asked->done; });
    questions_.push_back(q);
    auto done = [this, q, kept = kept_](reply answer) { answered(*q, std::move(answer)); };
    in_callback_ = true;  // nothing may be called from inside submit()
    if (watch) {
        session_->submit(std::move(r), q->watch->watcher, std::move(done));
    } else {
        session_->submit(std::move(r), std::move(done));
    }
    in_callback_ = false;
}

void adapter_user::answered(question& q, reply r) {
    note("#" + std::to_string(q.number) + " " + q.what.path + ": " + code_of(r.code));
    stage_.broken_if(in_callback_, "A1", "answered from inside submit()");
    if (std::exchange(q.done, true) || q.generation != generation_) {
        return stage_.broken("A1", "answered twice, or by a session that is gone");
    }
    --unanswered_;
    if (!definite(r.code)) {
        ++stage_.result.lost;
        stage_.broken_if(connected_ && closing_ && r.code != result_code::closing,
                         "A4",
                         "another answer than closing at the end");
        stage_.broken_if(
            connected_ && !closing_, "A4", "an answer is lost while connected: " + code_of(r.code));
        stage_.broken_if(
            r.code == result_code::session_expired && !over_, "A4", "expired before the event");
        stage_.broken_if(
            r.code == result_code::closing && !closing_, "A4", "closing before close()");
        return;
    }
    ++stage_.result.answered;
    if (r.code == result_code::bad_arguments && is_too_large(q.what)) {
        return;  // it was never sent
    }
    stage_.broken_if(!connected_, "A4", "an answer without a connection");
    stage_.broken_if(barrier_awaited_, "A5", "an answer ahead of that of the urgent write");
    stage_.broken_if(q.calm && stage_.servers.now() - q.at > 500ms,
                     "A1",
                     "an answer takes long while all is well");
    stage_.broken_if(q.number <= last_definite_, "A3", "answers out of order");
    last_definite_ = q.number;
    check_answer(q, r);
    q.watch = nullptr;
    if (stage_.faults && stage_.random.below(500) == 0) {
        drop();
    }
}

void adapter_user::check_answer(const question& q, const reply& r) {
    if (const std::string wrong = what_is_wrong(q.what, r, id_); !wrong.empty()) {
        return stage_.broken("A2",
                             "the answer to another request, or a wrong one: " + wrong + ", " +
                                 q.what.path + " " + code_of(r.code));
    }
    if (q.watch != nullptr) {
        user_watches::set(*q.watch, r);
    }
    if (q.what.what == request::kind::create) {
        stage_.broken_if(r.stat.czxid <= last_czxid_, "A5", "a create goes back in time");
        last_czxid_ = r.stat.czxid;
        own_.push_back(r.path);
    } else if (r.stat.mzxid != 0) {
        std::int64_t& newest = seen_[q.what.path];
        stage_.broken_if(
            r.stat.mzxid < newest, "A5", "an answer goes back in time: " + q.what.path);
        newest = r.stat.mzxid;
    }
}

void adapter_user::close() {
    if (over_ || closing_) {
        return;
    }
    note("close()");
    closing_ = true;
    close_limit_.start(1100ms, [this] {
        stage_.broken_if(closing_ && !over_, "A12", "close() takes more than a second");
    });
    session_->close([this, g = generation_] {
        note("closed");
        stage_.broken_if(g != generation_ || !idle(), "A1", "closed before all was answered");
        over_ = true;
        connected_ = false;
    });
    ask(request::sync("/"), false);  // it comes too late
}

void adapter_user::check_memory() {
    stage_.broken_if(
        kept_.use_count() > 1, "A14", "completions of requests that are over are kept");
}

void adapter_user::watch_many() {
    for (int i = 0; i < 2 * many; ++i) {
        ask(request::get("/many/i" + std::to_string(i < many ? i : 0)), true);
        watches_.forget_all();
    }
}

void adapter_user::check_watches_kept() {
    questions_.clear();
    stage_.broken_if(watches_.kept() > many / 2,
                     "A14",
                     "watches whose owners are gone are kept: " + std::to_string(watches_.kept()));
}

void adapter_user::note_changes() {
    if (!over_ && !closing_) {
        watches_.note_changes();
    }
}

void adapter_user::check_watches() {
    if (!over_ && !closing_) {
        watches_.check();
    }
}

}  // namespace latchkey::test
