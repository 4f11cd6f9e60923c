#include "direct/direct_message.hpp"

#include <optional>
#include <string>

#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

constexpr const char* own_name = "_c_11111111-2222-3333-4444-555555555555-lock-0000000007";
constexpr const char* other_name = "_c_11111111-2222-3333-4444-666666666666-lock-0000000008";

direct_key key_of(const std::string& secret) {
    return direct_key_of(secret, own_name).value();
}

direct_message hands_on() {
    return {direct_message::kind::hands_on, own_name, other_name};
}

TEST(DirectMessage, IsReadAsItWasWritten) {
    for (const auto kind : {direct_message::kind::waits, direct_message::kind::hands_on}) {
        const direct_message m{kind, own_name, other_name};
        const std::string datagram = write_direct_message(m, key_of("secret"));
        EXPECT_EQ(read_direct_message(datagram), m);
        EXPECT_TRUE(authenticates(datagram, key_of("secret")));
    }
}

TEST(DirectMessage, OfOneWithoutTheKeyIsNotBelieved) {
    const std::string datagram = write_direct_message(hands_on(), key_of("another"));
    EXPECT_TRUE(read_direct_message(datagram));
    EXPECT_FALSE(authenticates(datagram, key_of("secret")));
}

TEST(DirectMessage, EachChangedBitIsNoticed) {
    const std::string datagram = write_direct_message(hands_on(), key_of("secret"));
    for (std::size_t bit = 0; bit < datagram.size() * 8; ++bit) {
        std::string changed = datagram;
        changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << (bit % 8)));
        EXPECT_FALSE(read_direct_message(changed) && authenticates(changed, key_of("secret")))
            << "bit " << bit;
    }
}

TEST(DirectMessage, EachShortenedOrLengthenedOneIsNoticed) {
    const std::string datagram = write_direct_message(hands_on(), key_of("secret"));
    for (std::size_t size = 0; size < datagram.size(); ++size) {
        EXPECT_FALSE(read_direct_message(datagram.substr(0, size))) << size << " bytes";
    }
    EXPECT_FALSE(authenticates(datagram + 'x', key_of("secret"))) << "its text is longer";
}

TEST(DirectMessage, ANameThatIsTooLongIsNotWritten) {
    const std::string longest(longest_direct_name, 'a');
    const auto write = [](const std::string& ahead, const std::string& behind) {
        return write_direct_message({direct_message::kind::waits, ahead, behind}, direct_key{});
    };
    EXPECT_EQ(read_direct_message(write(longest, longest))->ahead, longest);
    EXPECT_EQ(write(longest + 'a', longest), "");
    EXPECT_EQ(write(longest, longest + 'a'), "");
    EXPECT_EQ(write("", longest), "");
}

TEST(DirectKey, BelongsToTheGuidOfAName) {
    const std::string name(own_name);
    EXPECT_EQ(direct_key_of("secret", name), direct_key_of("secret", name.substr(0, 40)));
    EXPECT_NE(direct_key_of("secret", name), direct_key_of("secret", other_name));
    EXPECT_NE(direct_key_of("secret", name), direct_key_of("another", name));
    for (const std::string& without : {std::string("lock-0000000001"), name.substr(0, 39)}) {
        EXPECT_EQ(direct_key_of("secret", without), std::nullopt) << without;
    }
}

TEST(DirectKey, IsReadAsItWasWritten) {
    const std::string text = to_hex(key_of("secret"));
    EXPECT_EQ(direct_key_from_hex(text), key_of("secret"));
    for (const std::string& wrong :
         {std::string(), text.substr(1), text + '0', 'g' + text.substr(1)}) {
        EXPECT_EQ(direct_key_from_hex(wrong), std::nullopt) << wrong;
    }
}

}  // namespace
}  // namespace latchkey::test
