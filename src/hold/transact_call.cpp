#include "hold/transact_call.hpp"

#include <latchkey/client.hpp>

#include "text/escape.hpp"

#include <utility>

namespace latchkey::inline v0 {

transact_call::transact_call(std::shared_ptr<client_core> core,
                             const std::vector<operation>& operations)
    : retrying_call(std::move(core)),
      transaction_({}, requests_of(operations, *this->core()->access())),
      unsent_(this->core()->loop()) {}

void transact_call::begin() {
    begun_ = core()->loop().now();
    unsent_.start(core()->patience(), [this] { give_up(); });
    retrying_call::begin();
}

task<transact_call::attempted> transact_call::attempt() {
    unsent_.cancel();
    if (std::exchange(sent_, true)) {
        co_return result{{errc::indeterminate, "the connection failed before the answer"}};
    }
    auto sent = core()->send(transaction_.multi());
    const reply answer = co_await sent;
    failure why = transaction_.why(answer);
    if (why) {
        co_return result{std::move(why)};
    }
    co_return result{{}, transaction_.results(answer)};
}

void transact_call::give_up() {
    const std::string trouble = core()->trouble();
    finish({sent_ ? failure{errc::indeterminate, "the call was given up before the answer"}
                  : failure{errc::unreachable,
                            "nothing was sent: " +
                                (trouble.empty() ? "no server was reached" : trouble)}});
}

void transact_call::client_closed(const failure& why) {
    finish({sent_ ? failure{errc::indeterminate, "the client was closed before the answer"} : why});
}

std::vector<operation_result> client::transact(std::vector<operation> operations,
                                               std::error_code& ec) const {
    return report(ec, [&] {
        return wait_for(std::make_shared<transact_call>(client_core::of(*this), operations),
                        std::chrono::nanoseconds::max(),
                        {});
    });
}

awaitable<std::vector<operation_result>> client::transact_async(operation_list operations) const {
    return when_awaited<std::vector<operation_result>>(
        *this, &client::async_transact, std::move(operations).take());
}

void client::async_transact(std::vector<operation> operations, transact_handler handler) const {
    const auto& core = client_core::of(*this);
    core->check_not_forked();
    start_new<transact_call>(*core, std::move(handler), core, operations);
}

}  // namespace latchkey::inline v0
