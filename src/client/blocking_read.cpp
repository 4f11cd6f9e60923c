#include "client/blocking_read.hpp"

#include "client/retrying_operation.hpp"
#include "text/escape.hpp"

#include <deque>
#include <optional>
#include <string>
#include <utility>

namespace latchkey::inline v0 {
namespace {

class asking final : public retrying_operation {
public:
    asking(std::shared_ptr<client_core> core,
           const std::vector<request>& questions,
           std::size_t most_data)
        : retrying_operation(std::move(core)), questions_(questions), most_data_(most_data) {}

    /// After the call has finished.
    [[nodiscard]] std::vector<reply> take_replies() { return std::move(replies_); }

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
        replies_.clear();
        std::deque<oneshot<reply>> asked;
        while (replies_.size() < questions_.size()) {
            while (asked.size() < most_reads_in_flight &&
                   replies_.size() + asked.size() < questions_.size()) {
                asked.push_back(core()->send(questions_[replies_.size() + asked.size()]));
            }
            auto& first = asked.front();
            reply r = co_await first;
            const request& question = questions_[replies_.size()];
            if (outcome_unknown(r.code) || r.code == result_code::throttled ||
                (question.what == request::kind::multi && !in_order_of_writes(r.code))) {
                co_return std::nullopt;
            }
            if (r.data.size() > most_data_) {
                r.data = r.data.substr(0, most_data_);
            }
            replies_.push_back(std::move(r));
            asked.pop_front();
        }
        co_return result{{}, true};
    }

    const std::vector<request> questions_;
    const std::size_t most_data_;
    std::vector<reply> replies_;
};

}  // namespace

std::vector<reply> blocking_read(client_core& core,
                                 const std::vector<request>& questions,
                                 std::size_t most_data) {
    if (questions.empty()) {
        return {};
    }
    const auto call = std::make_shared<asking>(core.shared_from_this(), questions, most_data);
    wait_for_answer(call);
    return call->take_replies();
}

reply blocking_read(client_core& core, const request& question) {
    return std::move(blocking_read(core, std::vector{question}).front());
}

void start_read(const std::shared_ptr<client_core>& core,
                const std::vector<request>& questions,
                std::function<void(failure, std::vector<reply>)> done,
                std::size_t most_data) {
    core->check_not_forked();
    const auto call = std::make_shared<asking>(core, questions, most_data);
    call->start(std::chrono::nanoseconds::zero(),
                {},
                [done = std::move(done), raw = call.get()](const retrying_operation::result& r) {
                    done(r.why, r.reached ? raw->take_replies() : std::vector<reply>());
                });
}

}  // namespace latchkey::inline v0
