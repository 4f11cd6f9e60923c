#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace latchkey::model {

/// Reads values of jute, ZooKeeper's serialization, from the front of a record. The bytes are not
/// trusted: a missing value is zero or empty, and `good()` is false from then on.
class jute_reader {
public:
    explicit jute_reader(std::string_view bytes) noexcept : bytes_(bytes) {}

    [[nodiscard]] bool good() const noexcept { return good_; }

    [[nodiscard]] std::size_t left() const noexcept { return bytes_.size(); }

    std::string_view bytes(std::size_t size);

    std::int32_t number() { return static_cast<std::int32_t>(unsigned_number(4)); }

    std::int64_t long_number() { return static_cast<std::int64_t>(unsigned_number(8)); }

    bool flag() { return unsigned_number(1) != 0; }

    /// A string or a buffer. A length of -1 means that there is none: then its data() is null.
    std::string_view text();

    /// One that must be there: without it, nothing is good.
    std::string text_that_is_there();

    /// A vector of strings.
    std::vector<std::string> texts();

private:
    std::uint64_t unsigned_number(std::size_t size);

    std::string_view bytes_;
    bool good_ = true;
};

/// Builds a frame: the length of a record, then the record.
class jute_writer {
public:
    jute_writer() : bytes_(length_size, '\0') {}

    jute_writer& number(std::int32_t value) { return put(static_cast<std::uint32_t>(value), 4); }

    jute_writer& long_number(std::int64_t value) {
        return put(static_cast<std::uint64_t>(value), 8);
    }

    jute_writer& flag(bool value) { return put(value ? 1U : 0U, 1); }

    jute_writer& text(std::string_view value);

    /// In place of a text: that there is none.
    jute_writer& none() { return number(-1); }

    jute_writer& texts(const std::vector<std::string>& values);

    /// The frame, with its length.
    [[nodiscard]] std::string take();

private:
    static constexpr std::size_t length_size = 4;

    jute_writer& put(std::uint64_t value, std::size_t size);

    std::string bytes_;
};

}  // namespace latchkey::model
