#pragma once

#include "loop/io_loop.hpp"
#include "tls/tls_identity.hpp"
#include "tls/tls_stream.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace latchkey::inline v0 {

/// One encrypted connection to a server, for a user that has a socket of its own and writes clear
/// text: the C client. The two are joined by a pair of sockets, and copied from one to the other on
/// the loop. On the loop only.
///
/// It begins to connect when it is made. It reports nothing: when it breaks, the user's socket
/// ends, and failure() says why. It must be destroyed on the loop, outside its own calls, which it
/// makes to nobody.
class tls_tunnel : public std::enable_shared_from_this<tls_tunnel> {
public:
    struct target {
        std::shared_ptr<tls_identity> identity;
        std::string address;  ///< numeric; IPv6 without brackets
        std::uint16_t port = 0;
        std::string name;  ///< that the certificate must be for; empty: the address
    };

    /// Throws std::system_error if there are no more descriptors.
    [[nodiscard]] static std::shared_ptr<tls_tunnel> open(io_loop& l, target to);

    /// For open().
    tls_tunnel(io_loop& l, target to);
    tls_tunnel(const tls_tunnel&) = delete;
    tls_tunnel& operator=(const tls_tunnel&) = delete;
    ~tls_tunnel();

    /// `address:port` to which the user may begin to connect. Nothing ever listens there, and
    /// nothing else can, until take_over() has replaced the user's socket.
    [[nodiscard]] const std::string& endpoint() const noexcept { return endpoint_; }

    /// Puts the near end of the tunnel in the place of the user's socket. Once. Throws
    /// std::system_error.
    void take_over(int socket);

    /// Why it broke, for people; empty if it has not, or if the server ended it.
    [[nodiscard]] const std::string& failure() const noexcept { return failure_; }

    /// What the server has not done yet, for a message: "no answer" and the like.
    [[nodiscard]] const char* unanswered() const noexcept;

    /// Why files that have changed are not used; empty if they are. For people.
    [[nodiscard]] const std::string& warning() const noexcept { return to_.identity->warning(); }

private:
    enum class stage : std::uint8_t { connecting, shaking, open, over };

    /// What was received from one side, and the other side has not taken yet.
    struct piece {
        std::array<char, 16384> bytes;
        std::size_t begin = 0;
        std::size_t end = 0;

        [[nodiscard]] bool empty() const noexcept { return begin == end; }
    };

    enum class progress : std::uint8_t { some, none, ended };

    void reserve_endpoint();
    void make_near_end();
    void connect();
    void connected();
    void look_at_files();
    void files_known();
    void begin_to_shake();
    void work();
    void shake();
    void copy();
    [[nodiscard]] progress outwards();
    [[nodiscard]] progress inwards();
    [[nodiscard]] progress blocked(tls_stream::step what);
    void arm();
    void fail(std::string why);
    void finish() noexcept;

    io_loop* loop_;
    const target to_;
    int reserved_ = -1;  ///< keeps others from listening on endpoint()
    std::string endpoint_;
    int user_end_ = -1;  ///< until take_over()
    std::unique_ptr<descriptor_watch> near_;
    std::unique_ptr<descriptor_watch> far_;
    std::unique_ptr<tls_stream> stream_;  // uses the socket of far_
    timer patience_;
    stage stage_ = stage::connecting;
    bool files_known_ = false;
    bool is_connected_ = false;

    piece outward_;
    piece inward_;
    bool near_readable_ = false;  ///< what is to be awaited, if nothing else can be done
    bool near_writable_ = false;
    bool far_readable_ = false;
    bool far_writable_ = false;
    std::string failure_;
};

}  // namespace latchkey::inline v0
