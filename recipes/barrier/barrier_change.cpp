#include "barrier/barrier_change.hpp"

#include "text/path.hpp"

#include <string>

namespace latchkey {

std::shared_ptr<retrying_operation> barrier_change::to_stand(std::shared_ptr<client_core> core,
                                                             const queue_recipe& as) {
    return std::make_shared<barrier_change>(
        std::move(core),
        request::create(
            as.directory, as.data(lock_mode::exclusive), create_mode::persistent, as.access));
}

std::shared_ptr<retrying_operation> barrier_change::to_be_gone(std::shared_ptr<client_core> core,
                                                               const queue_recipe& as) {
    return std::make_shared<barrier_change>(std::move(core), request::remove(as.directory));
}

void barrier_change::session_connected() {
    next_step();
    if (request_.what == request::kind::create) {
        core()->create_directories(
            std::string(parent_of(request_.path)), request_.access, [](const reply&) {});
    }
    core()->submit(request_, here([this](const reply& r) { answered(r.code); }));
}

void barrier_change::answered(result_code code) {
    const bool creates = request_.what == request::kind::create;
    if (code == result_code::ok ||
        code == (creates ? result_code::node_exists : result_code::no_node)) {
        finish({{}, true});
    } else if (code == result_code::throttled || code == result_code::no_node) {
        retry_later();
    } else if (outcome_unknown(code)) {
        begin_again();
    } else {
        finish({failure_of(code, request_.path), false});
    }
}

}  // namespace latchkey
