#include "barrier/double_barrier_enter.hpp"
#include "text/path.hpp"

#include <utility>

// How a participant gives up entering, so that no other one relies on it.

namespace latchkey {
namespace {

/// For this long the place is given up in an orderly way, so that the others see no loss.
constexpr auto farewell_limit = std::chrono::seconds(1);

}  // namespace

void double_barrier_enter::give_up() {
    leaving_ = true;
    next_step();
    watch_.reset();
    if (!sent_) {
        end({});
        return;
    }
    farewell_.start(farewell_limit, [this] {
        core()->deletes().add(path_of(at_->own), nullptr);
        end({});
    });
    if (core()->connected()) {
        withdraw();
    }
}

/// Deletes the own znode only if no round that counts on it has begun: such a round would have
/// changed the version.
request double_barrier_enter::removal(std::int32_t version) const {
    return request::multi(
        {request::check(at_->as.directory, version), request::remove(path_of(at_->own))});
}

void double_barrier_enter::withdraw() {
    const auto directory = std::make_shared<reply>();
    core()->submit(request::get(at_->as.directory),
                   here([directory](reply r) { *directory = std::move(r); }));
    core()->submit(
        request::get(path_of(double_barrier_round::ready)),
        here([this, directory](const reply& ready) { on_opened_or_not(*directory, ready); }));
}

void double_barrier_enter::on_opened_or_not(const reply& directory, const reply& ready) {
    if (directory.code == result_code::no_node) {
        end({});
        return;
    }
    if (!directory.ok()) {
        refused(directory, at_->as.directory);
        return;
    }
    at_->directory = directory.stat.czxid;
    if (ready.ok()) {
        auto round = double_barrier_round::read(ready.data);
        if (round && round->has(at_->own)) {
            if_counted_on(ready.stat.czxid,
                          [this, version = directory.stat.version, round = *std::move(round)](
                              bool counted) { counted ? pass(round) : remove_own(version); });
            return;
        }
    } else if (ready.code != result_code::no_node) {
        refused(ready, at_->as.directory);
        return;
    }
    remove_own(directory.stat.version);
}

void double_barrier_enter::remove_own(std::int32_t version) {
    core()->submit(removal(version), here([this](const reply& r) {
                       const bool gone = r.ok() || (r.results.size() == 2 &&
                                                    r.results[1].code == result_code::no_node);
                       if (gone) {
                           sent_ = false;
                           end({});
                       } else if (r.code == result_code::bad_version) {
                           again_soon([this] { withdraw(); });
                       } else {
                           refused(r, at_->as.directory);
                       }
                   }));
}

}  // namespace latchkey
