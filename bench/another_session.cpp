#include "another_session.hpp"

#include <latchkey/mutex.hpp>

#include <chrono>

namespace latchkey::bench {

using namespace std::chrono_literals;

another_session::another_session(const std::string& server)
    : client_(client::connect(server, {.session_timeout = 30s})),
      work_([this](const std::stop_token& stop) {
          latchkey::mutex nobody(client_, "/bench-busy");
          while (!stop.stop_requested()) {
              static_cast<void>(nobody.participants());
              std::this_thread::sleep_for(2ms);
          }
      }) {}

}  // namespace latchkey::bench
