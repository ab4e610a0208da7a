// The process heap behind every tensor: freed pages are kept and handed out again, which is worth 20 to 30 % of a sharded step
// (page faults cost more than the copies that follow them). Blocks are 64-byte aligned and come in size classes at most an eighth apart;
// large ones ask for huge pages. Any thread may free what another has allocated.
#pragma once

#include <cstddef>
#include <cstdint>

namespace scantling {

// Throws std::bad_alloc when the host has no memory left.
void* heap_allocate(size_t bytes);
void* heap_allocate_zeroed(size_t bytes);    // fresh pages are zero already and are not touched
void heap_free(void* memory, size_t bytes);  // `bytes` as asked for

}  // namespace scantling
