#pragma once

#include <latchkey/hold.hpp>

#include "caller.hpp"
#include "judge.hpp"
#include "loop/loop.hpp"
#include "stage.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <system_error>

namespace latchkey::simulation {

/// One caller, as a thread of a program would be: acquires, does something, releases, and begins
/// again; in all the ways that the recipes offer.
class worker final : public caller, public std::enable_shared_from_this<worker> {
public:
    worker(program& of, std::size_t object, std::string name);

    void cancel() override;
    void release() override;

private:
    void go_on() override;
    [[nodiscard]] std::optional<std::chrono::nanoseconds> draw_limit();
    void reserved();
    void told(call& c, std::error_code ec, hold h);
    void plan_next();
    void act();
    void transact();
    void change(lock_mode to);
    void changed(std::error_code ec, hold h);
    void read_register();
    void listen();
    void lost();

    judge& judge_;

    std::shared_ptr<call> call_;  ///< while it waits
    std::optional<std::stop_source> stop_;
    hold hold_;
    std::unique_ptr<held> held_;  ///< while it holds
    std::optional<std::stop_callback<std::function<void()>>> on_lost_;
    int acts_left_ = 0;
    std::optional<std::stop_source> change_;  ///< while the hold is being changed
    std::chrono::nanoseconds delay_of_change_{};
    bool done_with_it_ = false;  ///< meanwhile: it is released when it comes back
    timer cancel_;
};

}  // namespace latchkey::simulation
