#pragma once

#include <latchkey/log_record.hpp>

#include <string>

namespace latchkey::inline v0 {

/// A line for client_options::log, until it is delivered.
struct log_line {
    log_level level;
    const char* id;  ///< a literal, listed at log_record::id
    std::string text;
    std::string path = {};
};

}  // namespace latchkey::inline v0
