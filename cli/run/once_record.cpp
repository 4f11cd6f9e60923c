#include "run/once_record.hpp"

#include <latchkey/error.hpp>
#include <latchkey/znode.hpp>

#include "options/number_text.hpp"
#include "text/escape.hpp"

#include <cstdint>
#include <exception>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace latchkey::cli {

namespace {

std::int64_t milliseconds_since_1970(std::chrono::system_clock::time_point t) {
    return std::chrono::floor<std::chrono::milliseconds>(t.time_since_epoch()).count();
}

/// When the command last succeeded. The data is not trusted: other programs may write there.
std::int64_t last_success(const znode& record) {
    const auto stored =
        number_in<std::int64_t>(record.data, 0, std::numeric_limits<std::int64_t>::max());
    return stored.value_or(milliseconds_since_1970(record.stat.modified));
}

}  // namespace

once_record::once_record(client c, const std::string& path, guarded_write write)
    : client_(std::move(c)), path_(path + ".last-success"), write_(std::move(write)) {}

bool once_record::succeeded_within(std::chrono::nanoseconds time) {
    const auto record = client_.get(path_, read_from::quorum);
    exists_ = record.has_value();
    if (!record) {
        return false;
    }
    const std::int64_t last = last_success(*record);
    write_({operation::set(path_, std::to_string(last), record->stat.version)});
    const auto written = client_.exists(path_);
    if (!written) {
        exists_ = false;
        return false;
    }
    return std::chrono::milliseconds(milliseconds_since_1970(written->modified) - last) < time;
}

void once_record::succeeded() {
    for (int tries = 3;; --tries) {
        try {
            write_({exists_ ? operation::set(path_, "") : operation::create(path_)});
            return;
        } catch (const error& e) {
            // Whether an unanswered write was applied makes no difference: the next one says the
            // same.
            const bool changed = e.code() == errc::znode_exists || e.code() == errc::no_such_znode;
            if ((!changed && e.code() != errc::indeterminate) || tries == 1) {
                throw;
            }
            exists_ =
                e.code() == errc::znode_exists || (exists_ && e.code() == errc::indeterminate);
        }
    }
}

std::string once_record::try_succeeded() {
    try {
        succeeded();
        return "";
    } catch (const std::exception& e) {
        return fmt::format(
            "cannot record the success in {}: {}; --once-per will not prevent the next run",
            escaped(path_),
            escaped_message(e.what()));
    }
}

}  // namespace latchkey::cli
