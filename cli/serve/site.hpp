#pragma once

#include "serve/access_rules.hpp"
#include "serve/http_messages.hpp"
#include "serve/lock_metrics.hpp"
#include "serve/reading_loop.hpp"
#include "serve/request_target.hpp"

namespace latchkey::cli {

/// What each address of `latchkey serve` answers. No answer asks the servers: all show the latest
/// reading. Used by one thread.
class site {
public:
    /// All must outlive this object.
    site(const access_rules& access, lock_metrics& metrics, reading_loop& readings)
        : access_(access), metrics_(metrics), readings_(readings) {}

    [[nodiscard]] http_answer answer(const http_request& r);

private:
    [[nodiscard]] http_answer api(const request_target& target);

    const access_rules& access_;
    lock_metrics& metrics_;
    reading_loop& readings_;
};

}  // namespace latchkey::cli
