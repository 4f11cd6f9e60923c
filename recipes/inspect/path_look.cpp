#include "inspect/path_look.hpp"

#include "barrier/double_barrier_round.hpp"
#include "inspect/kind_rules.hpp"
#include "inspect/view_rules.hpp"
#include "leader/leader_record.hpp"
#include "queue/participant_record.hpp"
#include "text/path.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace latchkey::inline v0 {
namespace {

void add_each(std::vector<request>& questions,
              request (*ask)(std::string),
              const std::string& directory,
              const std::vector<std::string>& names) {
    for (const std::string& name : names) {
        questions.push_back(ask(join_path(directory, name)));
    }
}

std::size_t waiting_in(const queue_view& v) {
    const auto& all = v.participants;
    const auto waits = [](const participant& p) { return !p.holding; };
    return static_cast<std::size_t>(std::count_if(all.begin(), all.end(), waits));
}

/// Reads participants into the view. Servers before 3.8.4 and 3.9.2 show all but the data to any
/// client. Newer ones show the name.
task<failure> read_records(look_source& servers,
                           queue_view& view,
                           std::vector<request> questions,
                           const queue_markers& markers) {
    auto asked = servers.read(questions, longest_participant_data);
    std::vector<reply> answers = co_await asked;
    std::vector<request> of_hidden;
    for (std::size_t i = 0; i < answers.size(); ++i) {
        if (answers[i].code == result_code::no_auth) {
            of_hidden.push_back(request::exists(questions[i].path));
        }
    }
    auto asked_again = servers.read(std::move(of_hidden), 0);
    std::vector<reply> shown = co_await asked_again;
    auto next_shown = shown.begin();
    for (std::size_t i = 0; i < answers.size(); ++i) {
        const bool readable = answers[i].code != result_code::no_auth;
        reply& r = readable ? answers[i] : *next_shown++;
        if (r.code == result_code::no_node) {
            continue;  // it has left
        }
        if (!r.ok() && r.code != result_code::no_auth) {
            co_return failure_of(r.code, questions[i].path, request::kind::get);
        }
        view.participants.push_back(participant_from(questions[i].path, markers, std::move(r)));
        view.participants.back().readable = readable;
    }
    co_return failure();
}

}  // namespace

task<std::vector<reply>> look_source::read(std::vector<request> questions, std::size_t most_data) {
    std::vector<reply> answers;
    if (!questions.empty()) {
        auto asked = window_.read(std::move(questions), most_data);
        answers = co_await asked;
    }
    co_return answers;
}

task<failure> read_path(look_source& servers, path_look& look) {
    const std::string& path = look.view.path;
    // The list comes first: a leader's record that is read behind it is not older. The list of a
    // round is longer than a record, and a look at the directory above may need it.
    std::vector<request> questions{request::children(path), request::get(path)};
    const bool is_round = name_of(path) == double_barrier_round::ready;
    auto asked = servers.read(std::move(questions),
                              is_round ? double_barrier_round::longest : longest_leader_record + 1);
    std::vector<reply> answers = co_await asked;
    look.znode = std::move(answers[1]);
    const result_code code = answers[0].ok() ? look.znode.code : answers[0].code;
    if (code == result_code::no_node) {
        co_return failure();
    }
    if (code != result_code::ok) {
        co_return failure_of(code, path, request::kind::children);
    }
    std::vector<std::string>& names = look.znode.names;
    names = std::move(answers[0].names);
    std::sort(names.begin(), names.end());
    const auto kind = kind_of_path(look.znode);
    look.view.kind = kind.value_or(lock_kind::unknown);
    look.asks_for_children = !kind;
    co_return failure();
}

task<failure> read_participants(look_source& servers, path_look& look, bool waiters) {
    queue_view& view = look.view;
    if (look.asks_for_children) {
        std::vector<request> questions;
        add_each(questions, request::exists, view.path, look.znode.names);
        auto asked = servers.read(std::move(questions), 0);
        const std::vector<reply> children = co_await asked;
        view.kind = kind_of_children(look.znode, children);
    }

    path_lists lists{queue_of_kind(view.kind, look.znode.names), look.znode};
    const std::vector<request> to_list = lists_besides(view, lists);
    auto listing = servers.read(to_list, double_barrier_round::longest);
    lists.others = co_await listing;
    for (std::size_t i = 0; i < to_list.size(); ++i) {
        reply& r = lists.others[i];
        if (!r.tells_whether_there()) {
            co_return failure_of(r.code, to_list[i].path, to_list[i].what);
        }
        std::sort(r.names.begin(), r.names.end());
    }

    const queue_seen& queue = lists.queue;
    find_participants(view, lists);
    const auto names = waiters ? lists.names : may_hold(lists);
    std::vector<request> to_read;
    add_each(to_read, request::get, join_path(view.path, queue.permits), lists.permits);
    add_each(to_read, request::get, queue.below(view.path), names);
    auto reading = read_records(servers, view, std::move(to_read), queue.markers);
    failure why = co_await reading;
    if (why) {
        co_return why;
    }

    decide_holders(view, lists);
    complete_participants(view, servers.newest());
    const std::size_t in_queue = lists.names.size();
    const std::size_t shown = view.participants.size();
    const std::size_t waiting = waiting_in(view);
    look.waiting = waiting + in_queue - names.size();
    // A waiter of a semaphore that takes permits leaves the queue, too.
    look.missed_the_holders =
        queue.is_of_semaphore()
            ? look.waiting < in_queue
            : queue.is_queue() && waiting > 0 && waiting == shown && shown < names.size();
    co_return failure();
}

}  // namespace latchkey::inline v0
