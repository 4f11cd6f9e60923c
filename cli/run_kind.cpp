#include "run_kind.hpp"

#include <latchkey/error.hpp>

#include "exit_status.hpp"
#include "text/escape.hpp"
#include "usage_error.hpp"

#include <exception>

namespace latchkey::cli {

attempt_result without_throwing(const std::function<attempt_result()>& attempt) {
    try {
        return attempt();
    } catch (const usage_error& e) {
        return {nullptr, exit_status::usage, e.what()};
    } catch (const error& e) {
        return {nullptr, exit_status::of_error(e.code()), escaped_message(e.what())};
    } catch (const std::exception& e) {
        return {nullptr, exit_status::system_failed, escaped_message(e.what())};
    }
}

}  // namespace latchkey::cli
