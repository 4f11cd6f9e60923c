#include "znode/znode_swap.hpp"

#include "loop/paced_retry.hpp"
#include "text/path.hpp"

#include <optional>
#include <utility>

namespace latchkey::inline v0 {
namespace {

/// What it came to, by whether a znode is there.
struct open_question {
    std::string path;
    swapped if_there;
    swapped if_not;
};

task<swapped> exchange(std::shared_ptr<client_core> core,
                       std::vector<request> to,
                       std::vector<request> guards,
                       std::string from) {
    using enum swapped::kind;
    const std::string first = to.front().path;
    // The old one went with it if that was its directory, too; and may have gone with another one.
    const bool one_directory = parent_of(first) == parent_of(from);
    std::vector<request> all = to;
    all.insert(all.end(), guards.begin(), guards.end());
    all.push_back(request::remove(from));
    paced_retry again(core->loop());
    bool in_doubt = false;
    while (true) {
        auto connected = core->connection_made();
        co_await connected;
        if (in_doubt) {
            // Servers without a quorum answer these, too.
            auto asked_for_old = core->send(request::get(from));
            auto asked_for_new = core->send(request::get(first));
            const reply old_one = co_await asked_for_old;
            const reply new_one = co_await asked_for_new;
            if (!core->connected()) {
                continue;
            }
            if (old_one.code == result_code::no_node && new_one.ok()) {
                co_return swapped{done, {}, true};
            }
            if (old_one.code == result_code::no_node && new_one.code == result_code::no_node) {
                co_return swapped{gone, {}, true};
            }
        }
        auto sent = core->send(request::multi(all));
        const reply r = co_await sent;
        const auto which = r.refused_operation();
        const result_code why = which ? r.results[*which].code : result_code::ok;
        const bool creates = which && *which < to.size();
        const bool removes = which && *which + 1 == all.size();
        std::optional<open_question> open;
        // The creations come first: whatever else has changed since, they tell that it was done
        // before.
        if (r.ok() || (creates && why == result_code::node_exists)) {
            co_return swapped{done, {}, in_doubt};
        }
        if (why == result_code::no_node && (removes || (creates && one_directory))) {
            co_return swapped{gone, {}, in_doubt};
        }
        if (why == result_code::no_node && creates) {
            open = {from, {guard_failed, {}, in_doubt}, {gone, {}, in_doubt}};
        } else if (which && !creates && !removes &&
                   (why == result_code::no_node || why == result_code::bad_version)) {
            co_return swapped{guard_failed, {}, in_doubt};
        } else if (outcome_unknown(r.code) || r.code == result_code::throttled) {
            in_doubt = in_doubt || outcome_unknown(r.code);
        } else if (in_doubt || may_be_applied(r.code)) {
            // Refused now, for a reason that may be newer than an attempt that was not answered; or
            // the server failed, which does not say when.
            in_doubt = true;
            open = {first, {done, {}, true}, {refused, failure_of(r.code, first), true}};
        } else {
            co_return swapped{refused, failure_of(r.code, first), in_doubt};
        }
        if (open) {
            auto asked = core->send(request::multi({request::check(open->path)}));
            const reply there = co_await asked;
            if (there.ok()) {
                co_return open->if_there;
            }
            if (there.code == result_code::no_node) {
                co_return open->if_not;
            }
        }
        auto pause = core->pause(again);
        co_await pause;
    }
}

}  // namespace

task<swapped> swap_znodes(std::shared_ptr<client_core> core,
                          std::vector<request> to,
                          std::vector<request> guards,
                          std::string from) {
    std::vector<std::string> paths;
    for (const request& creation : to) {
        paths.push_back(creation.path);
    }
    const bool alone = core->deletes().note_swap(from, paths);
    auto exchanging = exchange(core, std::move(to), std::move(guards), from);
    swapped s = co_await exchanging;
    const bool is_over = s.what == swapped::kind::done || s.what == swapped::kind::gone;
    if (is_over || (alone && !s.in_doubt)) {
        core->deletes().forget_swap(from);
    }
    co_return s;
}

}  // namespace latchkey::inline v0
