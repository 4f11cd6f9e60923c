#pragma once

#include "ensemble/connection.hpp"
#include "session/request.hpp"

#include <cstddef>
#include <string_view>

namespace latchkey::model {

// Bytes of frames on the wire, with their lengths, as the C client and ZooKeeper's servers send
// them.
[[nodiscard]] std::size_t frame_size(const request& r);
[[nodiscard]] std::size_t answer_size(const packet& to, const reply& r);
[[nodiscard]] std::size_t event_size(std::string_view path);

}  // namespace latchkey::model
