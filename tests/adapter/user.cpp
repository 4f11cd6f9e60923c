#include "user.hpp"

#include "answer_check.hpp"
#include "ensemble/ensemble_access.hpp"
#include "simulated_loop.hpp"
#include "zookeeper_session.hpp"

#include <algorithm>
#include <ostream>
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

void adapter_stage::broken(const std::string& what) {
    tell("BROKEN: " + what);
    result.violations.push_back(what);
}

void adapter_stage::tell(const std::string& what) const {
    if (tale != nullptr) {
        const auto at = std::chrono::duration_cast<std::chrono::microseconds>(servers.now());
        *tale << at.count() % 1'000'000'000 << ": " << what << '\n';
    }
}

struct adapter_user::question {
    std::uint64_t number;
    int generation;
    request what;
    std::shared_ptr<watched> watch;
    bool done = false;
    bool connected;  ///< when it was asked
};

struct adapter_user::watched {
    std::string path;
    bool children = false;
    int generation = 0;
    bool set = false;
    int told = 0;
    std::int64_t mzxid = 0;
    std::vector<std::string> names;
    std::shared_ptr<session::watcher> watcher;
};

adapter_user::adapter_user(adapter_stage& stage, int number, std::chrono::milliseconds timeout)
    : stage_(stage),
      number_(number),
      timeout_(timeout),
      process_(virtual_loop::make_process(
          {std::shared_ptr<void>(), &testing::ensemble_access::loop_of(stage.servers)})),
      loop_(make_simulated_loop(stage.net, process_)),
      sessions_(std::make_unique<zookeeper_sessions>(loop_)),
      next_act_(*loop_) {
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
    troubles_ = 0;
    last_definite_ = asked_;
    seen_.clear();
    own_.clear();
    session_options options;
    options.timeout = timeout_;
    for (int i = 0; i < testing::ensemble_access::cluster_of(stage_.servers).size(); ++i) {
        options.servers.push_back({"127.0.0." + std::to_string(i + 1), 2181});
    }
    session_ = sessions_->open(options, [this, g = generation_](const session_event& e) {
        if (g != generation_ || session_ == nullptr) {
            stage_.broken("an event of a session that is gone");
            return;
        }
        on_event(e);
    });
}

void adapter_user::on_event(const session_event& e) {
    if (over_ && e.what != session_event::kind::trouble) {
        stage_.broken("an event after the end of the session");
    }
    switch (e.what) {
        case session_event::kind::connected:
            return on_connected(e);
        case session_event::kind::suspended:
            note("suspended");
            if (!connected_) {
                stage_.broken("suspended without being connected");
            }
            connected_ = false;
            suspended_at_ = stage_.servers.now();
            for (const auto& w : watches_) {
                w->set = false;  // watches end with their connection
            }
            return;
        case session_event::kind::expired:
            return on_expired();
        case session_event::kind::auth_failed:
            return stage_.broken("credentials refused that were not shown");
        case session_event::kind::trouble:
            note("trouble: " + e.detail);
            if (connected_) {
                stage_.broken("an attempt failed while connected");
            }
            return check_pace();
    }
}

/// Attempts that fail are followed by pauses: a round of three by T/40 at least.
void adapter_user::check_pace() {
    const auto now = stage_.servers.now();
    first_trouble_ = troubles_++ == 0 ? now : first_trouble_;
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(now - first_trouble_).count();
    if (troubles_ > 10 + 50 * seconds) {
        stage_.broken("attempts to connect without a pause");
    }
}

void adapter_user::on_connected(const session_event& e) {
    note("connected as " + std::to_string(e.id & 0xffff));
    ++stage_.result.connected;
    if (connected_) {
        stage_.broken("connected twice");
    }
    if (id_ != 0 && e.id != id_ && stage_.taken_away.erase(id_) == 0) {
        stage_.broken("another session without a word");
    }
    if (e.id == 0 || e.timeout != timeout_) {
        stage_.broken("connected without a session, or with another timeout");
    }
    if (id_ != 0 && e.id != id_) {
        seen_.clear();
    }
    if (stage_.survivable && id_ != 0 && stage_.servers.now() - suspended_at_ > timeout_ * 2 / 3) {
        stage_.broken("it took long to come back to a server that can be reached");
    }
    connected_ = true;
    if (id_ == e.id) {
        // As the client does: what is read behind it is no older than what was seen.
        request barrier = request::multi({request::check("/")});
        barrier.urgent = true;
        session_->submit(std::move(barrier), [](const reply&) {});
    }
    id_ = e.id;
    troubles_ = 0;
}

void adapter_user::on_expired() {
    note("expired");
    ++stage_.result.expired;
    over_ = true;
    connected_ = false;
    model::leader* const l = testing::ensemble_access::cluster_of(stage_.servers).leading();
    if (stage_.survivable || id_ == 0 || (l != nullptr && l->sessions().alive(id_))) {
        stage_.broken("expired, and the session lives, or should");
    }
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
        note("reconnect()");
        session_->reconnect();
    } else if (stage_.faults && stage_.chance(1)) {
        close();
    } else if (stage_.faults && stage_.random.below(300) == 0) {
        note("dropped");
        session_ = nullptr;  // what was asked is never answered
        unanswered_ = 0;
        open();
    }
}

std::string adapter_user::item() {
    return "/d" + std::to_string(stage_.random.below(directories)) + "/i" +
           std::to_string(stage_.random.below(items));
}

void adapter_user::ask_something() {
    const std::string path = item();
    const std::string directory = path.substr(0, 3);
    const std::string text = path + "#" + std::to_string(number_) + "." + std::to_string(asked_);
    const acl open_to_all = open_unsafe_acl();
    switch (stage_.random.below(10)) {
        case 0:
        case 1:
            return ask(request::get(path), stage_.chance(50));
        case 2:
            return ask(request::children(directory), stage_.chance(50));
        case 3:
            return ask(request::exists(path), false);
        case 4:
            return ask(request::set(path, text), false);
        case 5:
            return ask(request::create(directory + "/s-",
                                       text,
                                       stage_.chance(50) ? create_mode::ephemeral_sequential
                                                         : create_mode::persistent_sequential,
                                       open_to_all),
                       false);
        case 6:
            if (!own_.empty()) {
                ask(request::remove(own_.front()), false);
                own_.pop_front();
            }
            return;
        case 7:
            return ask(
                request::multi(
                    {request::check(directory),
                     request::set(path, text),
                     request::create(
                         directory + "/m-", text, create_mode::ephemeral_sequential, open_to_all)}),
                false);
        case 8:
            return ask(request::multi({request::check(path), request::check("/none")}), false);
        default:
            return ask(request::sync("/"), false);
    }
}

void adapter_user::ask(request r, bool watch) {
    auto q = std::make_shared<question>();
    q->number = ++asked_;
    q->generation = generation_;
    q->what = r;
    q->connected = connected_;
    if (watch) {
        auto w = std::make_shared<watched>();
        w->path = r.path;
        w->children = r.what == request::kind::children;
        w->generation = generation_;
        w->watcher =
            std::make_shared<session::watcher>([this, weak = std::weak_ptr(w)](watch_event) {
                const auto self = weak.lock();
                ++stage_.result.watches;
                if (++self->told > 1 || !self->set || self->generation != generation_) {
                    stage_.broken("a watch that is not set, or has told already, tells");
                }
                if (!connected_) {
                    stage_.broken("a watch tells without a connection");
                }
            });
        q->watch = w;
        watches_.push_back(w);
    }
    ++unanswered_;
    std::erase_if(questions_, [](const auto& asked) { return asked->done; });
    questions_.push_back(q);
    auto done = [this, q](reply answer) { answered(*q, std::move(answer)); };
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
    if (in_callback_) {
        stage_.broken("answered from inside submit()");
    }
    if (std::exchange(q.done, true) || q.generation != generation_) {
        return stage_.broken("answered twice, or by a session that is gone");
    }
    --unanswered_;
    if (!definite(r.code)) {
        ++stage_.result.lost;
        if (connected_ && !closing_) {
            stage_.broken("an answer is lost while connected: " + code_of(r.code));
        }
        if (r.code == result_code::session_expired && !over_) {
            stage_.broken("expired before the event");
        }
        if (r.code == result_code::closing && !closing_) {
            stage_.broken("closing before close()");
        }
        return;
    }
    ++stage_.result.answered;
    if (!connected_) {
        stage_.broken("an answer without a connection");
    }
    if (q.number <= last_definite_) {
        stage_.broken("answers out of order");
    }
    last_definite_ = q.number;
    check_answer(q, r);
}

void adapter_user::check_answer(const question& q, const reply& r) {
    if (const std::string wrong = what_is_wrong(q.what, r, id_); !wrong.empty()) {
        return stage_.broken("the answer to another request, or a wrong one: " + wrong + ", " +
                             q.what.path + " " + code_of(r.code));
    }
    if (q.watch != nullptr) {
        q.watch->set = true;
        q.watch->mzxid = r.stat.mzxid;
        q.watch->names = r.names;
        std::sort(q.watch->names.begin(), q.watch->names.end());
    }
    if (q.what.what == request::kind::create) {
        if (r.stat.czxid <= last_czxid_) {
            stage_.broken("a create goes back in time");
        }
        last_czxid_ = r.stat.czxid;
        own_.push_back(r.path);
    } else if (r.stat.mzxid != 0) {
        std::int64_t& newest = seen_[q.what.path];
        if (r.stat.mzxid < newest) {
            stage_.broken("an answer goes back in time: " + q.what.path);
        }
        newest = r.stat.mzxid;
    }
}

void adapter_user::close() {
    if (over_ || closing_) {
        return;
    }
    note("close()");
    closing_ = true;
    session_->close([this, g = generation_] {
        note("closed");
        if (g != generation_ || !idle()) {
            stage_.broken("closed before all was answered");
        }
        over_ = true;
        connected_ = false;
    });
    ask(request::sync("/"), false);  // it comes too late
}

void adapter_user::check_watches() {
    if (over_ || closing_ || !connected_) {
        return;
    }
    for (const auto& w : watches_) {
        if (!w->set || w->told > 0 || w->generation != generation_) {
            continue;
        }
        const auto node = stage_.servers.get(w->path);
        auto names = stage_.servers.children(w->path);
        const bool changed = w->children ? names != w->names : !node || node->mzxid > w->mzxid;
        if (changed) {
            stage_.broken("a watch that never told: " + w->path);
        }
    }
}

}  // namespace latchkey::test
