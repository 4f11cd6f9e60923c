#pragma once

namespace latchkey::test {

/// Whether a sanitizer replaces the allocator. In a child that was forked while another thread
/// allocated, that allocator may be locked for good.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

}  // namespace latchkey::test
