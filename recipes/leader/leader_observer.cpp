#include <latchkey/leader_observer.hpp>

#include "client/blocking_read.hpp"
#include "client/fork_safe.hpp"
#include "leader/leader_record.hpp"
#include "leader/leader_watch.hpp"
#include "queue/participants.hpp"
#include "text/path.hpp"

#include <algorithm>
#include <utility>

namespace latchkey::inline v0 {

leader_observer::leader_observer(const client& c, std::string path) {
    const auto& core = client_core::of(c);
    check_path(path);
    core->check_not_forked();
    watch_ = fork_safe<leader_watch>(core, std::move(path));
    core->post([w = watch_] { w->start(); });
}

leader_observer::~leader_observer() {
    if (!watch_->core()->forked()) {
        watch_->end();
    }
}

subscription leader_observer::on_change(listener l) {
    watch_->core()->check_not_forked();
    return watch_->add(std::move(l));
}

std::optional<leader_info> leader_observer::current() const {
    return watch_->core()->forked() ? std::nullopt : watch_->current();
}

const std::string& leader_observer::path() const noexcept {
    return watch_->directory();
}

// ---- without watching ----

namespace {

std::optional<leader_info> find_leader(const client& c, const std::string& path) {
    const auto core = client_core::of(c);
    check_path(path);
    while (true) {
        const auto heads = heads_of(read_children(*core, path));
        if (heads.empty()) {
            return std::nullopt;
        }
        std::vector<request> questions{request::get(path)};
        for (const std::string& name : heads) {
            questions.push_back(request::get(join_path(path, name)));
        }
        auto answers = blocking_read(*core, questions);
        const reply record = std::move(answers.front());
        answers.erase(answers.begin());
        for (std::size_t i = 0; i < heads.size(); ++i) {
            failure_of(answers[i].code, join_path(path, heads[i]), request::kind::get)
                .raise_unless(answers[i].tells_whether_there());
        }
        if (const auto oldest = oldest_of(answers)) {
            return leader_from(join_path(path, heads[*oldest]), answers[*oldest], record);
        }
        // That candidate has left meanwhile, and another one may be the first.
    }
}

std::vector<participant> find_participants(const client& c, const std::string& path) {
    check_path(path);
    auto all = list_participants(*client_core::of(c), path, candidate_names);
    std::ranges::stable_sort(
        all, {}, [](const participant& p) { return std::pair(p.sequence, p.czxid); });
    return all;
}

}  // namespace

std::optional<leader_info> leader_observer::leader(const client& c,
                                                   const std::string& path,
                                                   std::error_code& ec) {
    return report(ec, [&] { return find_leader(c, path); });
}

std::vector<participant> leader_observer::participants(const client& c,
                                                       const std::string& path,
                                                       std::error_code& ec) {
    return report(ec, [&] { return find_participants(c, path); });
}

}  // namespace latchkey::inline v0
