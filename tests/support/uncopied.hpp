#pragma once

namespace latchkey::test {

/// A base of classes whose objects are used through references to it.
class uncopied {
public:
    uncopied() = default;
    uncopied(const uncopied&) = delete;
    uncopied& operator=(const uncopied&) = delete;
    virtual ~uncopied() = default;
};

}  // namespace latchkey::test
