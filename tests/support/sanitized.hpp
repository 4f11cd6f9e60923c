#pragma once

namespace latchkey::test {

/// Whether a sanitizer replaces the allocator. In a child that was forked while another thread
/// allocated, that allocator may be locked for good.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

/// Whether that is the thread sanitizer, which has a thread of its own and lets no child of a
/// process with threads start another one.
#ifdef __SANITIZE_THREAD__
inline constexpr bool thread_sanitized = true;
#else
inline constexpr bool thread_sanitized = false;
#endif

}  // namespace latchkey::test
