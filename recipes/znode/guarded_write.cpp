#include "znode/guarded_write.hpp"

#include <utility>

namespace latchkey {

guarded_write::guarded_write(std::shared_ptr<client_core> core,
                             std::string own,
                             std::string path,
                             std::string text,
                             std::optional<std::int32_t> version,
                             replaceable may_replace)
    : retrying_operation(std::move(core)),
      own_(std::move(own)),
      path_(std::move(path)),
      text_(std::move(text)),
      version_(version),
      may_replace_(may_replace) {}

void guarded_write::session_connected() {
    if (core()->generation() != generation_) {
        // The write belongs to the session before. Its znode may still exist.
        end(outcome::unknown);
        return;
    }
    next_step();
    in_doubt_ = std::exchange(in_flight_, false) || in_doubt_;
    if (version_ && !sent_) {
        write();
    } else {
        look();
    }
}

void guarded_write::session_ended(loss) {
    end(outcome::unknown);
}

void guarded_write::look() {
    if (last_try_) {
        end(outcome::unknown);
        return;
    }
    core()->submit(request::get(path_), here([this](const reply& r) { on_seen(r); }));
}

void guarded_write::on_seen(const reply& r) {
    if (r.code == result_code::no_node) {
        end(outcome::gone);
    } else if (!r.ok()) {
        refuse(r.code);
    } else if (sent_ && r.data == text_ && r.stat.version == *version_ + 1) {
        stat_ = r.stat;
        end(outcome::written);
    } else if (failure why = may_replace_ != nullptr ? may_replace_(path_, r.data) : failure()) {
        end(outcome::refused, std::move(why));
    } else {
        version_ = r.stat.version;
        write();
    }
}

void guarded_write::write() {
    sent_ = true;
    in_flight_ = true;
    core()->submit(request::multi({request::check(own_), request::set(path_, text_, *version_)}),
                   here([this](const reply& r) { on_written(r); }));
}

void guarded_write::on_written(const reply& r) {
    in_flight_ = false;
    in_doubt_ = in_doubt_ || outcome_unknown(r.code);
    const auto refused = [&r](std::size_t i, result_code code) {
        return i < r.results.size() && r.results[i].code == code;
    };
    if (r.ok()) {
        stat_ = r.results.at(1).stat;
        end(outcome::written);
    } else if (refused(0, result_code::no_node) || refused(1, result_code::no_node)) {
        end(outcome::gone);
    } else if (refused(1, result_code::bad_version)) {
        again_soon([this] { look(); });  // another client wrote, or an own write was applied
    } else {
        refuse(r.code);
    }
}

/// The write was not applied for another reason, or its outcome is unknown.
void guarded_write::refuse(result_code code) {
    if (outcome_unknown(code) || code == result_code::throttled) {
        retry_later();
    } else {
        end(outcome::refused, failure_of(code, path_));
    }
}

void guarded_write::end(outcome what, failure why) {
    what_ = what;
    finish({std::move(why), what == outcome::written});
}

}  // namespace latchkey
