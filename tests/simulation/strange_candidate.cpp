#include "strange_candidate.hpp"

#include <latchkey/acl.hpp>

#include "client/client_core.hpp"
#include "program.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace latchkey::simulation {

using namespace std::chrono_literals;

void strange_candidate::rest() {
    const duration longest = stage_.calm ? 500ms : stage_.what.longest_rest;
    next_.start(stage_.up_to("rest", longest), [this] { go_on(); });
}

void strange_candidate::release() {
    if (next_.running() && !prefix_.empty()) {
        leave();
    }
}

void strange_candidate::go_on() {
    if (stage_.stopping) {
        return leave();  // a create of long ago may have been done by now
    }
    prefix_ = "_c_" + name_ + '.' + std::to_string(++attempts_) + '-' +
              std::string(stage_.recipe.names().exclusive);
    const std::string& directory = of_.object_at(object_).paths.front();
    ask(request::create(
            directory + '/' + prefix_, name_, create_mode::ephemeral_sequential, open_unsafe_acl()),
        [](const reply&) {});
    const duration longest =
        stage_.calm ? duration(stage_.what.session_timeout) / 10 : stage_.what.longest_hold * 2;
    next_.start(stage_.up_to("begin", longest), [this] { leave(); });
}

/// Deletes what it finds, of all its attempts, until there is nothing left: but what goes with
/// another session.
void strange_candidate::leave() {
    const std::string directory = of_.object_at(object_).paths.front();
    next_.start(200ms + stage_.up_to("leave", 100ms), [this] { leave(); });
    ask(request::children(directory), [this, directory](const reply& r) {
        bool found = !r.ok() && r.code != result_code::no_node;
        for (const std::string& name : r.names) {
            if (name.starts_with("_c_" + name_ + '.')) {
                found = true;
                remove(directory + '/' + name);
            }
        }
        if (!found) {
            prefix_.clear();
            rest();
        }
    });
}

void strange_candidate::remove(const std::string& path) {
    ask(request::get(path), [this, path](const reply& r) {
        if (r.ok() && r.stat.ephemeral_owner == of_.record()->session) {
            ask(request::remove(path), [](const reply&) {});
        }
    });
}

void strange_candidate::ask(request r, std::function<void(const reply&)> done) {
    client* const c = of_.usable_client();
    if (c == nullptr) {
        return;
    }
    client_core::of(*c)->submit(
        std::move(r), [weak = weak_from_this(), done = std::move(done)](const reply& answer) {
            if (weak.lock()) {
                done(answer);
            }
        });
}

}  // namespace latchkey::simulation
