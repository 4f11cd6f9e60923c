#include "caller.hpp"

#include "judge.hpp"
#include "program.hpp"
#include "stage.hpp"

#include <utility>

namespace latchkey::simulation {

caller::caller(program& of, std::size_t object, std::string name)
    : of_(of), stage_(of.stage_), object_(object), name_(std::move(name)), next_(of.loop()) {}

void caller::rest() {
    const duration longest = stage_.calm ? stage_.what.longest_rest / 4 : stage_.what.longest_rest;
    next_.start(stage_.up_to("rest", longest), [this] { go_on(); });
}

void caller::bereave(std::size_t object) {
    if (object == object_) {
        destroy();
    }
}

void caller::ask_to_stop(call* waiting, std::stop_source source) {
    if (waiting != nullptr && !waiting->stopped) {
        waiting->stopped = stage_.now();
    }
    stage_.tell(name_, " cancels");
    source.request_stop();
}

}  // namespace latchkey::simulation
