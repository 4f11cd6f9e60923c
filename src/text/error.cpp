#include <latchkey/error.hpp>

namespace latchkey {
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
        }
        return "unknown error " + std::to_string(value);
    }

    [[nodiscard]] bool equivalent(int value,
                                  const std::error_condition& c) const noexcept override {
        const auto code = static_cast<errc>(value);
        if (c == make_error_condition(cause::indeterminate)) {
            return code == errc::indeterminate;
        }
        if (c == make_error_condition(cause::session_lost)) {
            return code == errc::session_lost;
        }
        if (c == make_error_condition(cause::retryable)) {
            return code == errc::unreachable || code == errc::session_lost ||
                   code == errc::hold_lost || code == errc::indeterminate ||
                   code == errc::quota_exceeded;
        }
        return default_error_condition(value) == c;
    }
};

class condition_category final : public std::error_category {
public:
    [[nodiscard]] const char* name() const noexcept override { return "latchkey.cause"; }

    [[nodiscard]] std::string message(int value) const override {
        switch (static_cast<cause>(value)) {
            case cause::retryable:
                return "trying again later may succeed";
            case cause::indeterminate:
                return "the request may have been applied";
            case cause::session_lost:
                return "the session is gone";
        }
        return "unknown cause " + std::to_string(value);
    }
};

}  // namespace

const std::error_category& error_category() noexcept {
    static const library_category instance;
    return instance;
}

const std::error_category& cause_category() noexcept {
    static const condition_category instance;
    return instance;
}

}  // namespace latchkey
