#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace latchkey::inline v0 {

/// Larger than the list of any directory that a server can serve. Other protocols begin with text,
/// which is a larger number.
constexpr std::size_t longest_frame = 64U << 20U;

/// Follows one connection of the C client, and says what is wrong with a frame of the server.
///
/// The C client believes each length and count of a reply, and ignores its own errors in reading
/// one. So it must not see a frame that was not checked here. A frame is right if it is exactly
/// what ZooKeeper's protocol has for the request that it answers. Servers answer in the order of
/// the requests; only pings and credentials may be answered out of turn.
class frame_check {
public:
    /// `continues`: the client asks for a session that it has had.
    explicit frame_check(bool continues) noexcept : continues_(continues) {}

    /// A whole frame of the client, without its length; not the one that asks for a session.
    void sent(std::string_view frame);

    /// What is wrong with a whole frame of the server, given without its length: for people. Empty
    /// if it is right. After a wrong one, do not call it again.
    [[nodiscard]] std::string received(std::string_view frame);

    /// Whether the server has granted a session.
    [[nodiscard]] bool welcomed() const noexcept { return welcomed_; }

    /// Whether the frame was wrong for this reason only: it answers a later request. Servers that
    /// shut down while requests are under way do that (ZOOKEEPER-1863), and it says no more than
    /// that the connection is to be replaced.
    [[nodiscard]] bool answer_left_out() const noexcept { return left_out_; }

private:
    struct operation {
        std::int32_t type = 0;
        std::string creates;  ///< the path, if it creates a znode
    };

    struct question {
        std::int32_t xid = 0;
        operation what;
        std::vector<operation> parts;  ///< of a multi
    };

    class reader;

    [[nodiscard]] std::string answered(std::int32_t xid, std::int32_t error, reader& body);
    static void check_session(reader& in, bool continues);
    static void check_event(reader& in);
    static void check_body(const question& asked, reader& in);
    static void check_result(const operation& asked, reader& in);
    static void check_results(const std::vector<operation>& asked, reader& in);

    const bool continues_;
    bool welcomed_ = false;
    std::size_t pings_ = 0;        ///< without an answer
    std::size_t credentials_ = 0;  ///< without an answer
    std::deque<question> asked_;
    bool left_out_ = false;
};

}  // namespace latchkey::inline v0
