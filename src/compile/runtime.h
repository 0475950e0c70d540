// What generated host code calls.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

namespace numbus::compile {

// Sites of errors that no step of the code notes: threads that wait for others that never come,
// that use memory at the same time, that wait at different lines.
// kForeignSite: of a generator that another call has made (foreign_error()).
enum FoundSite : int64_t { kStuck = -1, kRace = -2, kDivergence = -3, kForeignSite = -4 };

// Words of the context that is passed along: where errors are noted, and output is gathered.
enum Context : int {
  kClaimed,  // set by the first error
  kSite,
  kFirst,  // values for the message
  kSecond,
  kThread,  // x, y, z
  kBlock = kThread + 3,
  kOutput = kBlock + 3,  // of print
  // Of threads that do not fit together: where the first one is, and the other; kFirst and kSecond
  // say what they do.
  kPosition,
  kOtherPosition,
  kOtherThread,
  kOtherThreadEnd = kOtherThread + 2,
  kCause,   // the owner of what is known of the error's cause (frontend/raised.cpp), or zero
  kCaller,  // a site and one: where the program called the library's function that has noted it
  kSites,   // what the numbers of sites stand for, where generators may come from other calls
  kContextWords
};

class Landing;

// Counted memory of arrays made inside functions: an owner is followed by its elements.
struct Owner {
  int64_t count;
  uint64_t bytes;
  int64_t child;  // the owner of a list's items
  int64_t item;   // of lists and dicts: what an item or entry is (ir::stored_item)
  // Among the memory of the call that has allocated it (leave.h); no call: it has ended.
  Landing* landing;
  Owner *previous, *next;
  int64_t table;  // the owner of a dict's slots
};
static_assert(sizeof(Owner) == 64);

// A list: what follows its owner.
struct List {
  int64_t length;
  char* data;
  int64_t capacity;
};

// A dict: a list of its entries in the order in which they came, and a table of slots that says
// where each key's is. An entry is a mark (the key's hash, or kNoEntry once it is taken out), the
// words of the key and those of the value. A slot is 0, or the upper half of a hash and the number
// of an entry, from 1. There are twice as many slots as entries have room, so that searches end.
struct Dict {
  List entries;
  int64_t live;     // entries that are not taken out
  int64_t version;  // counts what moves entries or takes them out
  int64_t room;     // for so many entries, before the table is made anew
  int64_t* slots;
  int64_t mask;  // slots, a power of two, less 1
};
constexpr int64_t kNoEntry = -1;

// An owner of memory that others count: its child is what they let go of.
constexpr int64_t kForeign = -1;
extern void (*release_foreign)(void*);
// Has a generator that nobody holds any more let go of what it holds.
struct Owner;
void close_generator(Owner* o);

// A generator (ir::Function::generator): an owner, these words, what it has yielded, and the frame
// of LLVM's coroutine.
struct Frame {
  void (**handle)(void*);  // the coroutine's frame, whose first word is what resumes it
  int64_t* context;        // of the call that lets it go on
  int64_t closing;         // whether nobody wants what it would yield next
  int64_t state;           // ir::Resumed; kSuspended before it has begun, and between its steps
  int64_t status;          // in the end: 0, or an error is noted
  const void* sites;       // of the call that made it, where Python has had it; else null
  int64_t spare[2];
};
static_assert(sizeof(Frame) == 8 * 8);
enum FrameWord : int { kFrameHandle, kFrameContext, kFrameClosing, kFrameState, kFrameStatus };
// The owner of a generator's frame: what it holds is let go of by the generator's own code.
constexpr int64_t kGenerator = -2;
// What generator of another call has failed with; the site of the error is kForeignSite.
struct ForeignError {
  const void* sites;
  int64_t site;
};
ForeignError& foreign_error();

// Gathers what print() says.
struct Output {
  std::mutex lock;
  std::string text;
};

// A float as Python's repr; `how`: Print.
std::string float_text(double x, int64_t how);

extern "C" {
int64_t numbus_allocate(int64_t bytes);  // zero where there is not enough memory
void numbus_retain(int64_t owner);
void numbus_retain_all(int64_t owner, int64_t times);
void numbus_release(int64_t owner);
int64_t numbus_list(int64_t memory, int64_t length, int64_t item);
int64_t numbus_resize(int64_t list, int64_t length);  // zero where memory does not suffice
int64_t numbus_dict(int64_t item);
int64_t numbus_foreign(void* held);
int64_t numbus_resume(int64_t* context, int64_t generator);           // ir::Resumed
int64_t numbus_dict_step(int64_t dict, int64_t entry, int64_t step);  // ir::DictStep
// Runs a portion over [0, n) in steps of `grain`, on several threads; the status.
int64_t numbus_host_call(int64_t number, const int64_t* words);
int32_t numbus_parallel(int32_t (*portion)(int64_t* context, void* captured, int64_t, int64_t),
                        int64_t* context, void* captured, int64_t n, int64_t grain);
void numbus_print_text(int64_t* context, const char* text, int64_t size);
// How numbers are printed: as one of 64 bits without a sign, a float32, a part of a complex number.
enum Print : int64_t { kUnsigned = 1, kSingle = 2, kPart = 4, kSigned = 8 };
void numbus_print_int(int64_t* context, int64_t n, int64_t how);
void numbus_print_float(int64_t* context, double x, int64_t how);
// Strings: so many characters of four bytes at an address.
int64_t numbus_print_string(int64_t* context, const char32_t* text, int64_t length);
// How a float becomes text, in one word: as Python's str, of a float32 where `how` is kSingle, or
// with a presentation type of Python's formats, `kind` (e, E, f, F, g, G, %), and `digits`.
constexpr int64_t format_word(int64_t how, char kind = 0, int64_t digits = 0) {
  return how | int64_t{kind} << 8 | digits << 16;
}
constexpr int64_t kMostDigits = 300;  // that a format may ask for
constexpr int64_t kFloatRoom = 700;   // characters that suffice for any of these
int64_t numbus_text_of_float(int64_t bits, char32_t* to, int64_t format);
// Whether an owner is referred to once (1), and its memory reaches to an address (2).
int64_t numbus_text_room(int64_t owner, int64_t end);
int64_t numbus_float_of_text(const char32_t* text, int64_t length, double* to);
}

}  // namespace numbus::compile
