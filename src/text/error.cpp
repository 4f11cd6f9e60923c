#include <latchkey/error.hpp>

namespace latchkey::inline v0 {
namespace {

class library_category final : public std::error_category {
public:
    [[nodiscard]] const char* name() const noexcept override { return "latchkey"; }

    [[nodiscard]] std::string message(int value) const override {
        switch (static_cast<errc>(value)) {
            case errc::invalid_argument:
                return "invalid argument";
            case errc::unreachable:
                return "no ZooKeeper server could be reached";
            case errc::session_lost:
                return "the ZooKeeper session was lost";
            case errc::hold_lost:
                return "the hold was lost";
            case errc::indeterminate:
                return "the connection failed before the answer came: the request may or may not "
                       "have been applied";
            case errc::not_authorized:
                return "not authorized: the znode's access control list refuses this client";
            case errc::authentication_failed:
                return "authentication failed: the servers refused the credentials";
            case errc::no_such_znode:
                return "no such znode";
            case errc::znode_exists:
                return "the znode exists already";
            case errc::version_mismatch:
                return "the znode has another version";
            case errc::not_empty:
                return "the znode has children";
            case errc::ephemeral_parent:
                return "an ephemeral znode cannot have children";
            case errc::quota_exceeded:
                return "the quota of the path is used up";
            case errc::sequence_exhausted:
                return "the directory's sequence numbers have run out";
            case errc::malformed_participant:
                return "the directory holds a participant that cannot be ordered";
            case errc::would_deadlock:
                return "the call would wait forever";
            case errc::closed:
                return "the client is closed";
            case errc::forked:
                return "made before a fork: it belongs to the parent process";
            case errc::unsupported:
                return "not supported";
            case errc::participant_lost:
                return "a participant was lost before it had left the barrier";
            case errc::protocol:
                return "unexpected answer from the servers";
            case errc::not_acquired:
                return "not acquired: the time was over, or the call was canceled";
            case errc::not_a_semaphore:
                return "the path is not a semaphore";
        }
        return "unknown error " + std::to_string(value);
    }

    /// The generic condition, where one fits, so that `ec == std::errc::timed_out` works.
    [[nodiscard]] std::error_condition default_error_condition(int value) const noexcept override {
        switch (static_cast<errc>(value)) {
            case errc::invalid_argument:
                return std::errc::invalid_argument;
            case errc::unreachable:
            case errc::not_acquired:
                return std::errc::timed_out;
            case errc::not_authorized:
            case errc::authentication_failed:
                return std::errc::permission_denied;
            case errc::no_such_znode:
                return std::errc::no_such_file_or_directory;
            case errc::znode_exists:
                return std::errc::file_exists;
            case errc::not_empty:
                return std::errc::directory_not_empty;
            case errc::would_deadlock:
                return std::errc::resource_deadlock_would_occur;
            case errc::closed:
                return std::errc::operation_canceled;
            case errc::unsupported:
                return std::errc::not_supported;
            default:
                return {value, *this};
        }
    }

    [[nodiscard]] bool equivalent(int value,
                                  const std::error_condition& c) const noexcept override {
        const auto code = static_cast<errc>(value);
        if (c == make_error_condition(error_kind::indeterminate)) {
            return code == errc::indeterminate;
        }
        if (c == make_error_condition(error_kind::session_lost)) {
            return code == errc::session_lost;
        }
        if (c == make_error_condition(error_kind::retryable)) {
            return code == errc::unreachable || code == errc::session_lost ||
                   code == errc::hold_lost || code == errc::indeterminate ||
                   code == errc::quota_exceeded || code == errc::not_acquired;
        }
        if (c == make_error_condition(error_kind::caller_bug)) {
            return code == errc::invalid_argument || code == errc::would_deadlock ||
                   code == errc::forked;
        }
        return default_error_condition(value) == c;
    }
};

class condition_category final : public std::error_category {
public:
    [[nodiscard]] const char* name() const noexcept override { return "latchkey.error_kind"; }

    [[nodiscard]] std::string message(int value) const override {
        switch (static_cast<error_kind>(value)) {
            case error_kind::retryable:
                return "trying again later may succeed";
            case error_kind::indeterminate:
                return "the request may have been applied";
            case error_kind::session_lost:
                return "the session is gone";
            case error_kind::caller_bug:
                return "the program uses the library wrongly";
        }
        return "unknown kind of error " + std::to_string(value);
    }
};

}  // namespace

std::error_code& throws() noexcept {
    static std::error_code none;
    return none;
}

const std::error_category& error_category() noexcept {
    static const library_category instance;
    return instance;
}

const std::error_category& error_kind_category() noexcept {
    static const condition_category instance;
    return instance;
}

}  // namespace latchkey::inline v0
