#include "client/blocking_read.hpp"

#include "client/retrying_call.hpp"
#include "text/escape.hpp"

#include <deque>
#include <optional>
#include <string>
#include <utility>

namespace latchkey::inline v0 {
namespace {

class asking final : public retrying_call<std::vector<reply>> {
public:
    asking(std::shared_ptr<client_core> core,
           const std::vector<request>& questions,
           std::size_t most_data)
        : retrying_call(std::move(core)), questions_(questions), most_data_(most_data) {}

private:
    [[nodiscard]] call_aim aim() const override {
        call_aim all{.verb = questions_.back().what == request::kind::set ? "write" : "read",
                     .paths = {},
                     .reads = true};
        for (const request& one : questions_) {
            all.paths.push_back(one.operations.empty() ? one.path : one.operations.front().path);
        }
        return all;
    }

    /// Part of the answers is of no use.
    [[nodiscard]] bool is_answered() const override { return false; }

    task<attempted> attempt() override {
        std::vector<reply> replies;
        std::deque<oneshot<reply>> asked;
        while (replies.size() < questions_.size()) {
            while (asked.size() < most_reads_in_flight &&
                   replies.size() + asked.size() < questions_.size()) {
                asked.push_back(core()->send(questions_[replies.size() + asked.size()]));
            }
            auto& first = asked.front();
            reply r = co_await first;
            const request& question = questions_[replies.size()];
            if (outcome_unknown(r.code) || r.code == result_code::throttled ||
                (question.what == request::kind::multi && !in_order_of_writes(r.code))) {
                co_return std::nullopt;
            }
            if (r.data.size() > most_data_) {
                r.data = r.data.substr(0, most_data_);
            }
            replies.push_back(std::move(r));
            asked.pop_front();
        }
        co_return result{{}, std::move(replies)};
    }

    const std::vector<request> questions_;
    const std::size_t most_data_;
};

}  // namespace

std::vector<reply> blocking_read(client_core& core,
                                 const std::vector<request>& questions,
                                 std::size_t most_data) {
    if (questions.empty()) {
        return {};
    }
    return wait_for_answer(std::make_shared<asking>(core.shared_from_this(), questions, most_data));
}

reply blocking_read(client_core& core, const request& question) {
    return std::move(blocking_read(core, std::vector{question}).front());
}

std::vector<std::string> read_children(client_core& core, const std::string& path) {
    reply r = blocking_read(core, request::children(path));
    failure_of(r.code, path, request::kind::children).raise_unless(r.tells_whether_there());
    return std::move(r.names);
}

std::vector<std::pair<std::string, reply>> read_znodes(client_core& core,
                                                       const std::vector<std::string>& paths,
                                                       std::size_t most_data) {
    std::vector<request> questions;
    for (const std::string& path : paths) {
        questions.push_back(request::get(path));
    }
    std::vector<reply> answers = blocking_read(core, questions, most_data);
    std::vector<std::pair<std::string, reply>> found;
    for (std::size_t i = 0; i < answers.size(); ++i) {
        reply& r = answers[i];
        failure_of(r.code, paths[i], request::kind::get).raise_unless(r.tells_whether_there());
        if (r.ok()) {
            found.emplace_back(paths[i], std::move(r));
        }
    }
    return found;
}

void start_read(const std::shared_ptr<client_core>& core,
                const std::vector<request>& questions,
                std::function<void(failure, std::vector<reply>)> done,
                std::size_t most_data) {
    core->check_not_forked();
    std::make_shared<asking>(core, questions, most_data)
        ->start(std::chrono::nanoseconds::zero(), {}, [done = std::move(done)](asking::result r) {
            done(std::move(r.why), std::move(r.value));
        });
}

}  // namespace latchkey::inline v0
