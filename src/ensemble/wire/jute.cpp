#include "ensemble/wire/jute.hpp"

#include <utility>

namespace latchkey::model {

std::string_view jute_reader::bytes(std::size_t size) {
    if (!good_ || size > bytes_.size()) {
        good_ = false;
        return {};
    }
    const std::string_view result = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return result;
}

std::string_view jute_reader::text() {
    const std::int32_t size = number();
    if (size < -1) {
        good_ = false;
    }
    return size < 0 ? std::string_view() : bytes(static_cast<std::size_t>(size));
}

std::string jute_reader::text_that_is_there() {
    const std::string_view read = text();
    good_ = good_ && read.data() != nullptr;
    return std::string(read);
}

std::vector<std::string> jute_reader::texts() {
    std::vector<std::string> result;
    // Each element takes bytes, so a false count alone costs no memory.
    const std::int32_t count = number();
    for (std::int32_t i = 0; i < count && good_; ++i) {
        result.emplace_back(text());
    }
    return result;
}

std::uint64_t jute_reader::unsigned_number(std::size_t size) {
    std::uint64_t result = 0;
    for (const char c : bytes(size)) {
        result = result << 8U | static_cast<std::uint8_t>(c);
    }
    return result;
}

jute_writer& jute_writer::put(std::uint64_t value, std::size_t size) {
    for (std::size_t shift = 8 * size; shift > 0; shift -= 8) {
        bytes_ += static_cast<char>(static_cast<std::uint8_t>(value >> (shift - 8)));
    }
    return *this;
}

jute_writer& jute_writer::text(std::string_view value) {
    number(static_cast<std::int32_t>(value.size()));
    bytes_ += value;
    return *this;
}

jute_writer& jute_writer::texts(const std::vector<std::string>& values) {
    number(static_cast<std::int32_t>(values.size()));
    for (const std::string& value : values) {
        text(value);
    }
    return *this;
}

std::string jute_writer::take() {
    const auto body = static_cast<std::uint32_t>(bytes_.size() - length_size);
    for (std::size_t i = 0; i < length_size; ++i) {
        bytes_[i] = static_cast<char>(static_cast<std::uint8_t>(body >> (8 * (3 - i))));
    }
    return std::exchange(bytes_, std::string(length_size, '\0'));
}

}  // namespace latchkey::model
