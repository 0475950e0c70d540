// Memory, threads and output for generated host code.
#include "compile/runtime.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/host_call.h"
#include "compile/leave.h"
#include "compile/random.h"
#include "device/cpu/thread_pool.h"
#include "device/device.h"
#include "ir/function.h"

namespace numbus::compile {
namespace {

Output* output_of(int64_t* context) { return reinterpret_cast<Output*>(context[kOutput]); }

void put(int64_t* context, std::string_view s) {
  Output* o = output_of(context);
  if (!o) return;
  std::lock_guard<std::mutex> guard(o->lock);
  o->text += s;
}

List* list_of(Owner* o) { return reinterpret_cast<List*>(o + 1); }

int64_t* words_of(Owner* o, int64_t i) {
  return reinterpret_cast<int64_t*>(list_of(o)->data + i * ir::item_bytes(o->item));
}

void drop_item(Owner* o, int64_t i) {
  int64_t* words = words_of(o, i);
  for (uint32_t left = ir::item_owners(o->item); left; left &= left - 1)
    numbus_release(std::exchange(words[std::countr_zero(left)], 0));
}

// What a list holds from some item on is not needed any more. Neighbours often lie in one memory:
// the parts of a text.
void drop_items(Owner* o, int64_t first) {
  const uint32_t owners = ir::item_owners(o->item);
  if (owners & (owners - 1)) {
    for (int64_t i = first; i < list_of(o)->length; ++i) drop_item(o, i);
    return;
  }
  const int word = std::countr_zero(owners);
  int64_t last = 0, more = 0;  // an owner to let go of, and how often besides
  auto release = [&] {
    if (more) __atomic_fetch_sub(&reinterpret_cast<Owner*>(last)->count, more, __ATOMIC_RELEASE);
    more = 0;
    numbus_release(last);
  };
  for (int64_t i = first; i < list_of(o)->length; ++i) {
    const int64_t owner = std::exchange(words_of(o, i)[word], 0);
    if (!owner) continue;
    if (owner == last) {
      ++more;
      continue;
    }
    release();
    last = owner;
  }
  release();
}

Dict* dict_of(Owner* o) { return reinterpret_cast<Dict*>(o + 1); }

constexpr int64_t kHalf = int64_t{1} << 32;
int64_t no_slots[1] = {0};  // of dicts without entries; read only

// The entries without gaps, with room for so many, and slots for them.
bool rebuild(Owner* o, int64_t room) {
  Dict* d = dict_of(o);
  int64_t slots =
      std::max<int64_t>(16, static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(2 * room))));
  int64_t table = room < kHalf / 4 ? numbus_allocate(slots * 8) : 0;
  if (!table) return false;
  int64_t length = d->entries.length;
  if (room > d->entries.capacity && !numbus_resize(reinterpret_cast<int64_t>(o), room)) {
    numbus_release(table);
    return false;
  }
  d->entries.length = length;
  auto* at = reinterpret_cast<int64_t*>(table + static_cast<int64_t>(sizeof(Owner)));
  std::memset(at, 0, static_cast<size_t>(slots * 8));
  int64_t mask = slots - 1, kept = 0;
  auto bytes = static_cast<size_t>(ir::item_bytes(o->item));
  for (int64_t i = 0; i < length; ++i) {
    int64_t hash = words_of(o, i)[0];
    if (hash == kNoEntry) continue;
    if (kept != i) std::memcpy(words_of(o, kept), words_of(o, i), bytes);
    int64_t k = hash & mask;
    while (at[k]) k = (k + 1) & mask;
    at[k] = (hash & ~(kHalf - 1)) | ++kept;
  }
  if (kept != length) ++d->version;
  d->entries.length = kept;
  d->room = room - kept;
  d->slots = at;
  d->mask = mask;
  numbus_release(std::exchange(o->table, table));
  return true;
}

Owner* from_pool(size_t bytes) {
  try {
    return static_cast<Owner*>(cpu_device().allocate(bytes));
  } catch (const Error&) {
    return nullptr;
  }
}

// Its memory, after what it holds.
void free_owner(Owner* o) {
  const int64_t child = o->child, table = o->table;
  if (o->landing) Landing::remove(o);
  Landing* call = Landing::current();
  if (!call || !call->spare.keep(o)) cpu_device().free(o, o->bytes);
  numbus_release(child);
  numbus_release(table);
}

// Releases the owners that an owner refers to, which may refer to others in turn: a linked list of
// objects is a long chain of them. Owners that are nested too deeply wait for the outermost call.
void drop_nested(Owner* o) {
  constexpr int kMostNested = 500;
  struct Nested {
    int depth = 0;
    std::vector<Owner*> waiting;
  };
  static thread_local Nested nested;
  if (nested.depth >= kMostNested) return nested.waiting.push_back(o);
  ++nested.depth;
  drop_items(o, 0);
  free_owner(o);
  if (--nested.depth > 0) return;
  while (!nested.waiting.empty()) {
    Owner* next = nested.waiting.back();
    nested.waiting.pop_back();
    ++nested.depth;
    drop_items(next, 0);
    free_owner(next);
    --nested.depth;
  }
}

}  // namespace

void (*release_foreign)(void*) = nullptr;

extern "C" {

int64_t numbus_allocate(int64_t bytes) {
  if (bytes < 0) return 0;
  const size_t all = static_cast<size_t>(bytes) + sizeof(Owner);
  Landing* call = Landing::current();
  Owner* o = call ? call->spare.take(all) : nullptr;
  if (!o) o = from_pool(all);
  if (!o && call) {
    call->spare.give_back();
    o = from_pool(all);
  }
  if (!o) return 0;
  o->count = 1;
  o->bytes = all;
  o->child = o->item = o->table = 0;
  o->landing = nullptr;
  if (call) call->add(o);
  return reinterpret_cast<int64_t>(o);
}

void numbus_retain(int64_t owner) {
  if (owner) __atomic_fetch_add(&reinterpret_cast<Owner*>(owner)->count, 1, __ATOMIC_RELAXED);
}

void numbus_retain_all(int64_t owner, int64_t times) {
  if (owner) __atomic_fetch_add(&reinterpret_cast<Owner*>(owner)->count, times, __ATOMIC_RELAXED);
}

void numbus_release(int64_t owner) {
  if (!owner) return;
  auto* o = reinterpret_cast<Owner*>(owner);
  // Where this is the only reference, nobody else can add one: no atomic step is needed.
  if (__atomic_load_n(&o->count, __ATOMIC_ACQUIRE) != 1 &&
      __atomic_fetch_sub(&o->count, 1, __ATOMIC_ACQ_REL) != 1)
    return;
  if (o->item == kForeign) {
    release_foreign(reinterpret_cast<void*>(std::exchange(o->child, 0)));
  } else if (o->item == kGenerator) {
    close_generator(o);
  } else if (ir::item_owners(o->item)) {
    return drop_nested(o);
  }
  free_owner(o);
}

int64_t numbus_list(int64_t memory, int64_t length, int64_t item) {
  int64_t owner = numbus_allocate(sizeof(List));
  if (!owner) return 0;
  auto* o = reinterpret_cast<Owner*>(owner);
  List* l = list_of(o);
  numbus_retain(memory);
  o->child = memory;
  o->item = item;
  *l = {length, memory ? reinterpret_cast<char*>(memory) + sizeof(Owner) : nullptr, length};
  return owner;
}

int64_t numbus_resize(int64_t list, int64_t length) {
  auto* o = reinterpret_cast<Owner*>(list);
  List* l = list_of(o);
  int64_t bytes = ir::item_bytes(o->item);
  if (length > l->capacity) {
    int64_t room = std::max({length, 2 * l->capacity, int64_t{8}});
    int64_t all = 0;
    if (__builtin_mul_overflow(room, bytes, &all)) return 0;
    int64_t memory = numbus_allocate(all);
    if (!memory) return 0;
    auto* to = reinterpret_cast<char*>(memory) + sizeof(Owner);
    if (l->length) std::memcpy(to, l->data, static_cast<size_t>(l->length * bytes));
    numbus_release(std::exchange(o->child, memory));
    l->data = to;
    l->capacity = room;
  }
  if (ir::item_owners(o->item)) {
    drop_items(o, length);
    if (length > l->length)
      std::memset(l->data + l->length * bytes, 0,
                  static_cast<size_t>((length - l->length) * bytes));
  }
  l->length = length;
  return 1;
}

int64_t numbus_dict(int64_t item) {
  int64_t owner = numbus_allocate(sizeof(Dict));
  if (!owner) return 0;
  auto* o = reinterpret_cast<Owner*>(owner);
  o->item = item;
  *dict_of(o) = {{0, nullptr, 0}, 0, 0, 0, no_slots, 0};
  return owner;
}

int64_t numbus_foreign(void* held) {
  int64_t owner = numbus_allocate(0);
  if (!owner) raise(ErrorKind::Memory, "[jit] no memory for an owner");
  auto* o = reinterpret_cast<Owner*>(owner);
  o->item = kForeign;
  o->child = reinterpret_cast<int64_t>(held);
  return owner;
}

int64_t numbus_dict_step(int64_t dict, int64_t entry, int64_t step) {
  auto* o = reinterpret_cast<Owner*>(dict);
  Dict* d = dict_of(o);
  switch (static_cast<ir::DictStep>(step)) {
    case ir::DictStep::Grow:
      return rebuild(o, std::max({int64_t{8}, 2 * d->live, d->entries.capacity}));
    case ir::DictStep::Settle:
      return d->live == d->entries.length || rebuild(o, std::max<int64_t>(8, d->live));
    case ir::DictStep::Clear:
      if (ir::item_owners(o->item)) drop_items(o, 0);
      numbus_release(std::exchange(o->child, 0));
      numbus_release(std::exchange(o->table, 0));
      *d = {{0, nullptr, 0}, 0, d->version + 1, 0, no_slots, 0};
      return 1;
    case ir::DictStep::Drop: {
      words_of(o, entry)[0] = kNoEntry;
      drop_item(o, entry);
      --d->live;
      ++d->version;
      // The last entry, if there is one, is not taken out: popitem() takes that.
      int64_t& length = d->entries.length;
      while (length && words_of(o, length - 1)[0] == kNoEntry) --length;
      return 1;
    }
  }
  return 0;
}

int32_t numbus_parallel(int32_t (*portion)(int64_t*, void*, int64_t, int64_t), int64_t* context,
                        void* captured, int64_t n, int64_t grain) {
  if (n <= 0) return 0;
  struct Call {
    int32_t (*portion)(int64_t*, void*, int64_t, int64_t);
    int64_t* context;
    void* captured;
    int64_t n, grain;
    Landing* outer;
    int64_t failed;  // the first portion that has failed so far; later ones need not run
    bool claimed;    // whether an error was noted before the loop, which stays
    int32_t status = 0;
    uint64_t streams = 0;
    std::mutex noting = {};

    // The error of the first portion stays, whichever thread comes to it when: those before a
    // portion that has failed run to their end. What caused another error is not needed.
    void note(int64_t k, int64_t* own, int32_t s) {
      const std::lock_guard<std::mutex> guard(noting);
      const bool first = k < failed, takes = first && !claimed;
      if (!takes && own[kClaimed]) numbus_release(own[kCause]);
      if (takes && context[kClaimed]) {
        numbus_release(context[kCause]);
        context[kClaimed] = context[kCause] = 0;
      }
      if (takes && own[kClaimed]) {
        own[kOutput] = context[kOutput];
        std::copy_n(own, static_cast<size_t>(kContextWords), context);
      }
      if (!first) return;
      __atomic_store_n(&failed, k, __ATOMIC_RELAXED);
      status = s;
    }
  };
  int64_t portions = (n + grain - 1) / grain;
  Call call{
      portion, context, captured, n, grain, Landing::current(), portions, context[kClaimed] != 0};
  call.streams = random_streams();
  auto run = [](void* p, int64_t begin, int64_t end, int) {
    auto* c = static_cast<Call*>(p);
    for (int64_t k = begin; k < end; ++k) {
      if (k > __atomic_load_n(&c->failed, __ATOMIC_RELAXED)) return;
      RandomStream of_portion(c->streams, k);
      int64_t low = k * c->grain, high = std::min(c->n, low + c->grain);
      // What a portion catches is no other one's: each notes its errors by itself.
      int64_t own[kContextWords] = {};
      for (Context word : {kOutput, kSites}) own[word] = c->context[word];
      int32_t s = interruptible([&] { return c->portion(own, c->captured, low, high); }, c->outer);
      if (s == kInterrupted) interrupt::raise_interrupted();
      if (s) c->note(k, own, s);
    }
  };
  bool interrupted = false;
  try {
    parallel_for(portions, run, &call, 1);
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::Interrupted) throw;
    interrupted = true;
  }
  if (interrupted) leave_generated_code();
  if (call.status == kTooDeep) leave_generated_code(kTooDeep);
  return call.status;
}

int64_t numbus_host_call(int64_t number, const int64_t* words) {
  HostCallFunction call = host_calls[number].load(std::memory_order_acquire);
  if (!call) return kNoHostCall;
  bool interrupted = false;
  int64_t result = kNoHostCall;
  try {
    result = call(words);
  } catch (const Error& e) {
    interrupted = e.kind() == ErrorKind::Interrupted;
  } catch (const std::bad_alloc&) {
    result = kNoHostCall;  // the caller's own way needs less memory
  }
  if (interrupted) leave_generated_code();
  return result;
}

void numbus_print_text(int64_t* context, const char* text, int64_t size) {
  put(context, {text, static_cast<size_t>(size)});
}
void numbus_print_int(int64_t* context, int64_t n, int64_t how) {
  put(context, how & kUnsigned ? std::to_string(static_cast<uint64_t>(n)) : std::to_string(n));
}

void numbus_print_float(int64_t* context, double x, int64_t how) {
  put(context, float_text(x, how));
}

}  // extern "C"

}  // namespace numbus::compile
