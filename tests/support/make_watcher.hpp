#pragma once

#include "session/session.hpp"

#include <memory>
#include <string_view>
#include <utility>

namespace latchkey::test {

/// A watcher that calls `f` with each event, for an `f` that reads again what has changed.
template <class F>
[[nodiscard]] std::shared_ptr<session::watcher> make_watcher(F f) {
    class calling final : public session::watcher {
    public:
        explicit calling(F g) : call_(std::move(g)) {}

        [[nodiscard]] bool is_on(std::string_view) const noexcept override { return true; }

        void on_event(watch_event what) override { call_(what); }

    private:
        F call_;
    };

    return std::make_shared<calling>(std::move(f));
}

}  // namespace latchkey::test
