#include "protected_create.hpp"

#include "path.hpp"
#include "queue.hpp"

#include <array>
#include <cstdio>
#include <utility>

namespace latchkey {
namespace {

/// A random (version 4) UUID as Java writes it; Curator recognises a protected name by its form.
std::string guid(loop& l) {
    const std::uint64_t high = (l.random() & ~0xF000ULL) | 0x4000ULL;
    const std::uint64_t low = (l.random() & ~(3ULL << 62U)) | (1ULL << 63U);
    std::array<char, 40> text{};
    std::snprintf(text.data(),
                  text.size(),
                  "%08x-%04x-%04x-%04x-%012llx",
                  static_cast<unsigned>(high >> 32U),
                  static_cast<unsigned>(high >> 16U & 0xFFFFU),
                  static_cast<unsigned>(high & 0xFFFFU),
                  static_cast<unsigned>(low >> 48U),
                  static_cast<unsigned long long>(low & 0xFFFF'FFFF'FFFFULL));
    return text.data();
}

}  // namespace

protected_create::protected_create(std::shared_ptr<client_core> core,
                                   std::shared_ptr<const participation> as,
                                   bool directory_known,
                                   std::function<void(joined)> done)
    : core_(std::move(core)),
      as_(std::move(as)),
      prefix_("_c_" + guid(core_->loop()) + "-"),
      done_(std::move(done)),
      directory_known_(directory_known),
      retry_(core_->loop()) {}

void protected_create::start() {
    send();
}

void protected_create::session_connected() {
    if (resolving_) {
        resolve();
    }
}

void protected_create::send() {
    if (abandoned_) {
        finish({.why = refused_, .name = {}, .names = {}});  // nothing is there
        return;
    }
    ++step_;
    resolving_ = false;
    joined_ = {};
    directory_refused_ = result_code::ok;
    if (!core_->connected()) {
        resolving_ = true;  // nothing was sent; resolving finds that out as cheaply as anything
        return;
    }
    if (!directory_known_) {
        create_directories();
    }
    in_doubt_ = true;
    core_->submit(
        request::create(
            join_path(as_->directory, prefix_ + std::string(marker_of(as_->markers, as_->mode))),
            as_->data(as_->mode),
            create_mode::ephemeral_sequential,
            as_->access),
        here([this](const reply& r) { on_created(r); }));
    core_->submit(request::children(as_->directory),
                  here([this](reply r) { on_listed(std::move(r)); }));
}

void protected_create::create_directories() {
    const auto answered = here([this](const reply& r) {
        // A level that is there already answers NODEEXISTS, or NOAUTH; the create tells. NONODE:
        // the level above was reaped just now.
        if (r.ok() || r.code == result_code::node_exists) {
            directory_refused_ = result_code::ok;
        } else if (r.code != result_code::no_node && r.code != result_code::throttled) {
            directory_refused_ = r.code;
        }
    });
    if (!as_->permits) {
        core_->create_directories(as_->directory, as_->access, answered);
        return;
    }
    const permit_terms& terms = *as_->permits;
    core_->create_directories(std::string(parent_of(terms.semaphore)), as_->access, answered);
    if (terms.limit) {
        core_->submit(request::create(terms.semaphore,
                                      std::to_string(*terms.limit),
                                      create_mode::persistent,
                                      as_->access),
                      answered);
    }
    for (const std::string& directory : {as_->directory, terms.directory}) {
        core_->submit(request::create(directory, {}, create_mode::container, as_->access),
                      answered);
    }
}

void protected_create::on_created(const reply& r) {
    if (!r.ok()) {
        on_refused(r.code);
        return;
    }
    in_doubt_ = false;
    directory_known_ = true;
    joined_.name = name_of(r.path);
    joined_.czxid = r.stat.czxid;
}

void protected_create::on_refused(result_code code) {
    switch (code) {
        case result_code::no_node:
            // The directory was removed a moment ago, or could not be created.
            if (directory_refused_ != result_code::ok && !outcome_unknown(directory_refused_)) {
                finish({.why = failure_of(directory_refused_, as_->directory),
                        .name = {},
                        .names = {}});
                return;
            }
            directory_known_ = false;
            in_doubt_ = false;
            retry(&protected_create::send);
            return;
        case result_code::throttled:
            in_doubt_ = false;
            retry(&protected_create::send);
            return;
        case result_code::node_exists:
            finish(
                {.why =
                     {errc::sequence_exhausted,
                      "\"" + escaped(as_->directory) +
                          "\": the servers have no sequence number left for it; use another path"},
                 .name = {},
                 .names = {}});
            return;
        case result_code::no_auth:
        case result_code::invalid_acl:
        case result_code::no_children_for_ephemerals:
        case result_code::quota_exceeded:
        case result_code::bad_arguments:
        case result_code::unimplemented:
            finish({.why = failure_of(code, as_->directory), .name = {}, .names = {}});
            return;
        case result_code::marshalling_error:
            // Something went wrong inside the server, nobody knows when: a failure, once it is
            // known what is there.
            refused_ = failure_of(code, as_->directory);
            abandoned_ = true;
            resolve();
            return;
        default:
            // Unknown, or a code that we have no word for: the znode may be there.
            if (std::exchange(was_resolved_, true)) {
                retry(&protected_create::resolve);
            } else {
                resolve();
            }
    }
}

void protected_create::on_listed(reply r) {
    if (joined_.name.empty()) {
        return;  // the create was refused, and dealt with
    }
    joined_.listed = r.ok();
    joined_.names = std::move(r.names);
    if (r.code == result_code::no_auth) {
        joined_.why = failure_of(r.code, as_->directory);
    }
    finish(std::move(joined_));
}

void protected_create::resolve() {
    ++step_;
    resolving_ = true;
    if (!core_->connected()) {
        return;
    }
    // Whatever it answers, it has its place in the log behind a create that arrived before it.
    core_->submit(request::multi({request::check(as_->directory)}), here([this](const reply& r) {
                      if (!proves_quorum(r.code) && r.code != result_code::no_auth) {
                          retry(&protected_create::resolve);
                      }
                  }));
    core_->submit(request::children(as_->directory), here([this](reply r) {
                      if (r.ok() || r.code == result_code::no_node) {
                          auto candidates = with_prefix(r.names, prefix_, as_->markers);
                          examine(std::move(r.names), std::move(candidates));
                      } else {
                          retry(&protected_create::resolve);
                      }
                  }));
}

/// Adopts the lowest candidate that our session owns; the owner deletes the others.
void protected_create::examine(std::vector<std::string> names,
                               std::vector<std::string> candidates) {
    if (candidates.empty()) {
        if (std::exchange(in_doubt_, false) && !lost_) {
            lost_ = lost_create::await(core_, as_, prefix_);
        }
        send();
        return;
    }
    const std::string path = join_path(as_->directory, candidates.front());
    core_->submit(request::get(path),
                  here([this, names = std::move(names), candidates = std::move(candidates)](
                           const reply& r) mutable {
                      if (r.ok() && r.stat.ephemeral_owner == core_->session_id()) {
                          finish({.why = refused_,
                                  .name = std::move(candidates.front()),
                                  .czxid = r.stat.czxid,
                                  .listed = true,
                                  .names = std::move(names)});
                      } else if (r.ok()) {
                          candidates.erase(candidates.begin());
                          examine(std::move(names), std::move(candidates));
                      } else {
                          retry(&protected_create::resolve);
                      }
                  }));
}

/// Takes a step again, a little later; while disconnected, with the next connection.
void protected_create::retry(void (protected_create::*step)()) {
    ++step_;
    resolving_ = true;
    retry_.start(backoff_.next(core_->loop().random()),
                 [weak = weak_from_this(), step, at = step_] {
                     const auto self = weak.lock();
                     if (self && self->done_ && self->step_ == at) {
                         (self.get()->*step)();
                     }
                 });
}

void protected_create::finish(joined j) {
    ++step_;
    retry_.cancel();
    if (lost_) {
        lost_->keep(j.name);
    }
    if (const auto done = std::exchange(done_, nullptr)) {
        done(std::move(j));
    }
}

}  // namespace latchkey
