#include <latchkey/guard.hpp>

#include "text/escape.hpp"

#include <algorithm>
#include <utility>

namespace latchkey::inline v0 {
namespace {

std::string locks_text(const std::vector<std::string>& paths) {
    std::string text = paths.size() > 1 ? "the locks " : "the lock ";
    for (const std::string& path : paths) {
        text += (&path == &paths.front() ? "\"" : ", \"") + escaped(path) + '"';
    }
    return text;
}

std::string limit_text(std::chrono::nanoseconds limit) {
    const auto ms = std::chrono::ceil<std::chrono::milliseconds>(limit).count();
    return ms % 1000 == 0 ? std::to_string(ms / 1000) + " s" : std::to_string(ms) + " ms";
}

std::string holder_text(const participant& p) {
    const auto& who = p.identified;
    if (!who) {
        return "the participant \"" + escaped(p.name) + '"';
    }
    std::string text = escaped(who->user) + '@' + escaped(who->host) + " (" +
                       escaped(who->program) + ", pid " + std::to_string(who->pid) + ')';
    return who->id.empty() ? text : '"' + escaped(who->id) + "\", " + text;
}

}  // namespace

error guard::timed_out(const std::vector<std::string>& paths,
                       std::chrono::nanoseconds limit,
                       const std::vector<participant>& queue) {
    std::string what = locks_text(paths) + " could not be acquired within " + limit_text(limit);
    // Those of a semaphore that hold come first, and they alone have permits.
    const bool permits = std::ranges::any_of(queue, [](auto& p) { return p.permits > 0; });
    std::string holders;
    for (const participant& p : queue) {
        if (!permits || p.permits > 0) {
            holders += (holders.empty() ? "" : ", ") + holder_text(p);
        }
    }
    if (!holders.empty()) {
        what += "; held by " + holders;
    }
    return {errc::not_acquired, what};
}

error guard::canceled(const std::vector<std::string>& paths) {
    return {errc::not_acquired,
            locks_text(paths) + " was not acquired: its stop token was requested"};
}

error guard::lost(const latchkey::hold& h) {
    const std::string path = h.path();
    return {errc::hold_lost,
            (path.empty() ? "the hold is empty" : "the hold \"" + escaped(path) + "\" was lost: ") +
                (path.empty() ? "" : to_string(h.why_lost()))};
}

}  // namespace latchkey::inline v0
