#pragma once

#include <latchkey/hold.hpp>

#include "client/client_core.hpp"
#include "queue/place_turns.hpp"
#include "queue/queue_recipe.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace latchkey::inline v0 {

/// The places of an object each of whose calls is a participant, where a place is kept after its
/// release (lock_options::retain_for): the next call that asks for as many permits holds it again.
/// Any thread.
class place_pool {
public:
    explicit place_pool(std::shared_ptr<client_core> core) : core_(std::move(core)) {}

    /// A hold of a place that was kept, if there is one; else an empty hold. `first` as in
    /// place_turns::take(). Its time grows with the places that are held.
    [[nodiscard]] hold take(const queue_recipe& as, telemetry::span* first);

    /// The turns of a participant that is about to join.
    [[nodiscard]] std::shared_ptr<place_turns> turns_of(
        std::shared_ptr<const queue_recipe> as) const {
        return std::make_shared<place_turns>(core_, std::move(as));
    }

    /// It has been granted; its place has ended.
    void add(std::shared_ptr<place_turns> turns);
    void remove(const std::shared_ptr<place_turns>& turns);

    /// No place is kept from now on. On the loop.
    void close();

private:
    const std::shared_ptr<client_core> core_;

    boost::mutex guard_;
    std::vector<std::shared_ptr<place_turns>> all_ LATCHKEY_GUARDED_BY(guard_);
};

}  // namespace latchkey::inline v0
