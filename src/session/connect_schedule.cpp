#include "session/connect_schedule.hpp"

#include <algorithm>

namespace latchkey::inline v0 {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds first_limit{400};
constexpr milliseconds least_limit{200};
constexpr milliseconds first_pause{100};
constexpr milliseconds longest_pause{3000};
constexpr milliseconds least_pause{20};

constexpr milliseconds doubled(milliseconds base, unsigned times, milliseconds most) {
    // 2^20 times 20 ms is above every limit here.
    return std::min(base * (milliseconds::rep{1} << std::min(times, 20U)), most);
}

milliseconds jittered(milliseconds pause, std::uint64_t random) {
    const auto half = static_cast<std::uint64_t>(pause.count() / 2);
    return milliseconds(pause.count() - static_cast<milliseconds::rep>(random % (half + 1)));
}

unsigned doublings(unsigned failed_rounds) {
    return failed_rounds == 0 ? 0 : failed_rounds - 1;
}

}  // namespace

milliseconds connect_limit(milliseconds session_timeout,
                           std::size_t servers,
                           unsigned round) noexcept {
    const auto count = static_cast<milliseconds::rep>(std::max<std::size_t>(servers, 1));
    const auto most = std::max(session_timeout / (2 * count), least_limit);
    return doubled(std::min(first_limit, most), round, most);
}

milliseconds connect_pause(unsigned failed_rounds, std::uint64_t random) noexcept {
    return jittered(doubled(first_pause, doublings(failed_rounds), longest_pause), random);
}

milliseconds reconnect_pause(milliseconds session_timeout,
                             unsigned failed_rounds,
                             std::uint64_t random) noexcept {
    const auto most = std::clamp(session_timeout / 20, least_pause, longest_pause);
    return jittered(doubled(std::min(first_pause, most), doublings(failed_rounds), most), random);
}

}  // namespace latchkey::inline v0
