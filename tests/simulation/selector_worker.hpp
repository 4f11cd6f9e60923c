#pragma once

#include "caller.hpp"
#include "leader/selector_loop.hpp"
#include "loop/loop.hpp"
#include "selector_judge.hpp"
#include "stage.hpp"

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

namespace latchkey::simulation {

/// A service that runs a function while it leads, with one selector after the other. The function
/// takes virtual time: it returns by itself, when it is asked to or much later, or throws; and the
/// selector is started, interrupted, closed and destroyed at any time, also by the function. On the
/// loop only.
class selector_worker final : public caller, public std::enable_shared_from_this<selector_worker> {
public:
    selector_worker(program& of, std::size_t object, std::string name);

    void cancel() override { interrupt(); }

    void release() override { interrupt(); }

private:
    /// A function that runs.
    struct call {
        std::shared_ptr<selection> of;
        selector_loop::returned returned;
        std::optional<std::stop_callback<std::function<void()>>> on_stop;
    };

    void go_on() override;
    void make();
    void start();
    void run(const std::shared_ptr<selection>& c,
             const leadership& term,
             const std::stop_token& stop,
             selector_loop::returned returned);
    void failed(selection& c, const std::exception_ptr& what);
    void plan_next();
    void act();
    void asked();
    void return_now();
    void interrupt();
    void close();
    void destroy() override;
    void misbehave();

    selector_judge& judge_;

    std::shared_ptr<selector_loop> selector_;
    std::shared_ptr<selection> selection_;  ///< of the selector
    std::shared_ptr<call> call_;            ///< of the selector, or of one that was destroyed
    int acts_left_ = 0;
    timer work_;
};

}  // namespace latchkey::simulation
