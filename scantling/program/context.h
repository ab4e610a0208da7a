// What the passes need to know, from a model's table and its layout.
#pragma once

#include "scantling/layout/layout.h"
#include "scantling/program/compile.h"

namespace scantling {

// `deferred_update`: updates wait for the gradient norm.
PassContext training_context(const ModelDescription& model, const Layout& layout, int micro_batches, bool deferred_update);
// Forward only, one micro-batch.
PassContext evaluation_context(const ModelDescription& model, const Layout& layout);

}  // namespace scantling
