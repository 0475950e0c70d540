// The elementary functions of Numbus: one include for all. core.h describes the builder they are
// written over.
#pragma once

#include "passes/math/exp.h"
#include "passes/math/hyper.h"
#include "passes/math/inverse.h"
#include "passes/math/log.h"
#include "passes/math/pow.h"
#include "passes/math/trig.h"
