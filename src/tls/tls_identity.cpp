#include "tls/tls_identity.hpp"

#include <latchkey/error.hpp>

#include "loop/background_thread.hpp"
#include "tls/tls_context.hpp"

#include <utility>

#include <sys/stat.h>

namespace latchkey::inline v0 {
namespace {

std::int64_t nanoseconds(const timespec& t) noexcept {
    return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

}  // namespace

tls_identity::tls_identity(const std::shared_ptr<loop>& l, const tls_options& options)
    // The marks first: a file that changes in between is read again.
    : loop_(l), options_(options), marks_(marks()), context_(make_tls_context(options_)) {}

std::vector<tls_identity::mark> tls_identity::marks() const {
    std::vector<mark> all;
    for (const auto& name : tls_files(options_)) {
        struct stat s {};

        mark& one = all.emplace_back();
        if (::stat(name.c_str(), &s) == 0) {
            one = {.device = s.st_dev,
                   .inode = s.st_ino,
                   .size = s.st_size,
                   .modified = nanoseconds(s.st_mtim),
                   .changed = nanoseconds(s.st_ctim)};
        }
    }
    return all;
}

/// On the thread that looks.
tls_identity::reading tls_identity::look(const std::vector<mark>& known) const {
    reading now;
    try {
        now.marks = marks();
        if (now.marks != known) {
            now.context = make_tls_context(options_);
        }
    } catch (const error& e) {
        now.problem = e.what();
    }
    return now;
}

void tls_identity::take(reading now) {
    if (now.context != nullptr) {
        context_ = std::move(now.context);
        marks_ = std::move(now.marks);
    }
    warning_ = now.problem.empty() ? std::string()
                                   : "the files for TLS cannot be read again, and what was read "
                                     "before stays in use: " +
                                         now.problem;
    for (const auto& done : std::exchange(waiting_, {})) {
        done();
    }
}

void tls_identity::when_refreshed(std::function<void()> done) {
    if (waiting_.empty()) {
        done();
    } else {
        waiting_.push_back(std::move(done));
    }
}

void tls_identity::refresh(std::function<void()> done) {
    waiting_.push_back(std::move(done));
    if (waiting_.size() > 1) {
        return;  // a look is under way
    }
    try {
        background_thread("latchkey-tls", [self = shared_from_this(), known = marks_] {
            reading now = self->look(known);
            if (const auto on = self->loop_.lock()) {
                on->post([self, now = std::move(now)]() mutable { self->take(std::move(now)); });
            }
        }).detach();
    } catch (const error& e) {
        if (const auto on = loop_.lock()) {
            on->post([self = shared_from_this(), why = std::string(e.what())] {
                self->take({.context = nullptr, .marks = {}, .problem = why});
            });
        }
    }
}

}  // namespace latchkey::inline v0
