// A rank is a device's place in a group, counted from 0.
#pragma once

namespace scantling {

using Rank = int;

}  // namespace scantling
