#include "stage.hpp"

#include "eventually.hpp"

#include <algorithm>
#include <utility>

#include <boost/asio/post.hpp>

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;

testing::ensemble::options servers_of(std::uint64_t seed) {
    testing::ensemble::options how;
    how.seed = seed;
    how.tick = 200ms;
    how.max_session_timeout = 60s;
    how.container_interval = 300ms;
    return how;
}

testing::faults all_faults() {
    testing::faults f;
    f.interval = 500ms;
    f.cut = 0.15;
    f.suspend = 0.03;
    f.pause = 0.03;
    f.expire = 0.05;
    f.stop = 0.02;
    f.isolate = 0.01;
    f.lag = 0.03;
    f.lasting = 800ms;
    f.cut_before = 0.0005;
    f.cut_after = 0.0005;
    return f;
}

}  // namespace

stage::stage(std::uint64_t seed, std::chrono::seconds length)
    : seed_(seed), end_(std::chrono::steady_clock::now() + length), servers_(servers_of(seed)) {
    servers_.create("/x", "0");
    for (int i = 0; i < 4; ++i) {
        client_options how = options();
        if (i == 1) {
            how.executor = [this](auto f) { boost::asio::post(pool_, std::move(f)); };
        } else if (i == 2) {
            how.observer = [this](const event&) { ++events_; };
        } else if (i == 3) {
            how.log = [](const log_record&) {};
        }
        clients_.push_back(servers_.connect(std::move(how)));
    }
    servers_.inject(all_faults());
}

stage::~stage() {
    finish();
    clients_.clear();
    pool_.join();
}

client_options stage::options() const {
    return {.session_timeout = stress_timeout, .close_timeout = 500ms};
}

void stage::finish() {
    for (std::thread& t : std::exchange(threads_, {})) {
        t.join();
    }
    servers_.inject({});
}

void stage::add(std::string kind, work w) {
    threads_.emplace_back([this, kind = std::move(kind), w = std::move(w), n = threads_.size()] {
        turns t(*this, kind, seed_ + n);
        try {
            while (t.next()) {
                w(*this, t);
            }
        } catch (const std::exception& e) {
            find(kind + " threw: " + e.what());
        }
    });
}

judge_of_holds& stage::judge(const std::string& path, std::uint32_t capacity) {
    const std::lock_guard lock(guard_);
    return judges_.try_emplace(path, path, capacity).first->second;
}

// ---- turns ----

stage::turns::turns(stage& s, const std::string& kind, std::uint64_t seed)
    : stage_(s),
      count_([&]() -> std::atomic<std::uint64_t>& {
          const std::lock_guard lock(s.guard_);
          return s.turns_[kind];
      }()),
      random_(seed) {}

bool stage::turns::next() {
    const bool first = !std::exchange(begun_, true);
    count_ += first ? 0 : 1;
    return first || std::chrono::steady_clock::now() < stage_.end_;
}

void stage::turns::pause(unsigned at_most) {
    const std::chrono::milliseconds length(below(at_most + 1));
    static_cast<void>(eventually([] { return false; }, length));
}

// ---- holds that are looked at ----

stage::exhibition::exhibition(stage& s, const hold& h) : stage_(s), shown_(&h) {
    const std::lock_guard lock(stage_.exhibits_guard_);
    stage_.exhibits_.push_back({&h, 0});
}

stage::exhibition::~exhibition() {
    std::unique_lock lock(stage_.exhibits_guard_);
    const auto mine = [this] {
        return std::find_if(stage_.exhibits_.begin(), stage_.exhibits_.end(), [this](auto& e) {
            return e.what == shown_;
        });
    };
    stage_.unwatched_.wait(lock, [&] { return mine()->looked_at == 0; });
    stage_.exhibits_.erase(mine());
}

void stage::look_at_a_hold(turns& t, const std::function<void(const hold&)>& look) {
    const hold* shown = nullptr;
    const auto count = [&](bool begins) {
        for (auto& e : exhibits_) {
            if (e.what == shown) {
                begins ? ++e.looked_at : --e.looked_at;
            }
        }
    };
    {
        const std::lock_guard lock(exhibits_guard_);
        if (exhibits_.empty()) {
            return;
        }
        shown = exhibits_[t.below(static_cast<unsigned>(exhibits_.size()))].what;
        count(true);
    }
    look(*shown);
    const std::lock_guard lock(exhibits_guard_);
    count(false);
    unwatched_.notify_all();
}

// ---- what it comes to ----

void stage::find(const std::string& what) {
    const std::lock_guard lock(guard_);
    findings_.push_back(what);
}

std::vector<std::string> stage::findings() const {
    const std::lock_guard lock(guard_);
    auto all = findings_;
    for (const auto& [path, judge] : judges_) {
        for (std::string& f : judge.findings()) {
            all.push_back(std::move(f));
        }
    }
    return all;
}

std::map<std::string, std::uint64_t> stage::turns_had() const {
    const std::lock_guard lock(guard_);
    std::map<std::string, std::uint64_t> all;
    for (const auto& [kind, count] : turns_) {
        all[kind] = count;
    }
    return all;
}

}  // namespace latchkey::test
