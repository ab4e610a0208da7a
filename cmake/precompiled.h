// The one precompiled header of the files that use LibTorch: what most of them include. Autograd's headers stay out: they are five
// times as large, and every file would pay a second for the few that need them.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>
