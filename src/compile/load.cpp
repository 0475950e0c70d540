// A loader for objects of one's own making: sections, symbols, relocations. LLVM's takes ten
// milliseconds to set up, which a process pays that finds all of its code in the disk cache.
#include "compile/load.h"

#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/error.h"

namespace numbus::compile {
namespace {

[[noreturn]] void refuse(const std::string& what) {
  raise(ErrorKind::Runtime, "[compile] cannot load compiled code: " + what);
}

class Loader {
 public:
  Loader(std::string_view object, void* (*external)(std::string_view))
      : object_(object), external_(external) {
    at(header_, 0);
    if (std::memcmp(header_.e_ident, ELFMAG, SELFMAG) != 0 || header_.e_type != ET_REL ||
        header_.e_machine != EM_X86_64)
      refuse("not an object of this processor");
    sections_.resize(header_.e_shnum);
    for (size_t n = 0; n < sections_.size(); ++n)
      at(sections_[n], header_.e_shoff + n * sizeof(Elf64_Shdr));
    for (const Elf64_Shdr& s : sections_)
      if (s.sh_type == SHT_SYMTAB) {
        symbols_.resize(s.sh_size / sizeof(Elf64_Sym));
        for (size_t n = 0; n < symbols_.size(); ++n)
          at(symbols_[n], s.sh_offset + n * sizeof(Elf64_Sym));
        names_ = sections_.at(s.sh_link);
      }
  }

  Loaded load(const std::string& wanted) {
    lay_out();
    for (size_t n = 0; n < sections_.size(); ++n) {
      const Elf64_Shdr& s = sections_[n];
      if (s.sh_type == SHT_REL) refuse("relocations of another form");
      if (s.sh_type != SHT_RELA || !bases_.at(s.sh_info)) continue;
      for (size_t k = 0; k < s.sh_size / sizeof(Elf64_Rela); ++k) {
        Elf64_Rela r;
        at(r, s.sh_offset + k * sizeof r);
        relocate(r, bases_[s.sh_info] + r.r_offset);
      }
    }
    // Code is never writable once it runs.
    if (mprotect(memory_, code_end_, PROT_READ | PROT_EXEC) != 0 ||
        mprotect(memory_ + code_end_, constants_end_ - code_end_, PROT_READ) != 0)
      refuse("its memory cannot be protected");
    for (size_t n = 0; n < symbols_.size(); ++n)
      if (ELF64_ST_BIND(symbols_[n].st_info) == STB_GLOBAL && name_of(symbols_[n]) == wanted)
        return {std::move(owner_), address_of(n)};
    refuse("it lacks " + wanted);
  }

 private:
  template <class T>
  void at(T& to, uint64_t offset) const {
    if (offset > object_.size() || sizeof to > object_.size() - offset) refuse("it is cut short");
    std::memcpy(&to, object_.data() + offset, sizeof to);
  }
  std::string_view name_of(const Elf64_Sym& s) const {
    uint64_t begin = names_.sh_offset + s.st_name;
    if (begin >= object_.size()) refuse("it is cut short");
    return std::string_view(object_.data() + begin);
  }
  static uint64_t up(uint64_t n, uint64_t to) { return (n + to - 1) / to * to; }

  // What sections are made of: code, what is only read, the rest. Tables for unwinding stay out:
  // nothing throws through generated code.
  static int kind_of(const Elf64_Shdr& s) {
    if (!(s.sh_flags & SHF_ALLOC) || s.sh_type == SHT_X86_64_UNWIND || s.sh_size == 0) return -1;
    if (s.sh_flags & SHF_TLS) refuse("variables of threads");
    return s.sh_flags & SHF_EXECINSTR ? 0 : s.sh_flags & SHF_WRITE ? 2 : 1;
  }

  void lay_out() {
    auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    std::vector<uint64_t> offsets(sections_.size(), 0);
    uint64_t end = 0;
    for (int kind = 0; kind < 3; ++kind) {
      for (size_t n = 0; n < sections_.size(); ++n) {
        if (kind_of(sections_[n]) != kind) continue;
        end = up(end, std::max<uint64_t>(1, sections_[n].sh_addralign));
        offsets[n] = end;
        end += sections_[n].sh_size;
      }
      // Jumps to functions further than 2 GiB away stand after the code, addresses after what is
      // only read.
      if (kind == 0) {
        jumps_ = up(end, 16);
        end = code_end_ = up(jumps_ + 16 * symbols_.size(), page);
      } else if (kind == 1) {
        table_ = up(end, 8);
        end = constants_end_ = up(table_ + 8 * symbols_.size(), page);
      }
    }
    void* p =
        mmap(nullptr, up(end, page), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) raise(ErrorKind::Memory, "[compile] no memory for compiled code");
    memory_ = static_cast<char*>(p);
    owner_ = std::shared_ptr<void>(p, [bytes = up(end, page)](void* at) { munmap(at, bytes); });
    bases_.assign(sections_.size(), nullptr);
    for (size_t n = 0; n < sections_.size(); ++n) {
      const Elf64_Shdr& s = sections_[n];
      if (kind_of(s) < 0) continue;
      bases_[n] = memory_ + offsets[n];
      if (s.sh_type == SHT_NOBITS) continue;
      if (s.sh_offset > object_.size() || s.sh_size > object_.size() - s.sh_offset)
        refuse("it is cut short");
      std::memcpy(bases_[n], object_.data() + s.sh_offset, s.sh_size);
    }
  }

  char* address_of(size_t symbol) {
    const Elf64_Sym& s = symbols_.at(symbol);
    if (s.st_shndx == SHN_UNDEF) {
      std::string_view name = name_of(s);
      void* found = external_(name);
      if (!found) refuse("nothing is called " + std::string(name));
      return static_cast<char*>(found);
    }
    if (s.st_shndx >= sections_.size() || !bases_[s.st_shndx])
      refuse("a symbol in a section that is not loaded");
    return bases_[s.st_shndx] + s.st_value;
  }

  // jmp *0(%rip), and the address.
  char* jump_to(size_t symbol) {
    char* p = memory_ + jumps_ + 16 * symbol;
    const unsigned char code[6] = {0xff, 0x25, 0, 0, 0, 0};
    char* to = address_of(symbol);
    std::memcpy(p, code, sizeof code);
    std::memcpy(p + sizeof code, &to, sizeof to);
    return p;
  }
  char* table_entry(size_t symbol) {
    char* p = memory_ + table_ + 8 * symbol;
    char* to = address_of(symbol);
    std::memcpy(p, &to, sizeof to);
    return p;
  }

  static void put32(char* to, int64_t value) {
    auto narrow = static_cast<int32_t>(value);
    if (narrow != value) refuse("a distance beyond 2 GiB");
    std::memcpy(to, &narrow, sizeof narrow);
  }

  void relocate(const Elf64_Rela& r, char* to) {
    size_t symbol = ELF64_R_SYM(r.r_info);
    auto distance = [&](const char* target) { return target + r.r_addend - to; };
    switch (ELF64_R_TYPE(r.r_info)) {
      case R_X86_64_NONE: return;
      case R_X86_64_64: {
        char* value = address_of(symbol) + r.r_addend;
        std::memcpy(to, &value, sizeof value);
        return;
      }
      case R_X86_64_PC64: {
        int64_t value = distance(address_of(symbol));
        std::memcpy(to, &value, sizeof value);
        return;
      }
      case R_X86_64_PC32: put32(to, distance(address_of(symbol))); return;
      case R_X86_64_PLT32: {
        bool outside = symbols_.at(symbol).st_shndx == SHN_UNDEF;
        put32(to, distance(outside ? jump_to(symbol) : address_of(symbol)));
        return;
      }
      case R_X86_64_GOTPCREL:
      case R_X86_64_GOTPCRELX:
      case R_X86_64_REX_GOTPCRELX: put32(to, distance(table_entry(symbol))); return;
      default: refuse("relocation " + std::to_string(ELF64_R_TYPE(r.r_info)));
    }
  }

  std::string_view object_;
  void* (*external_)(std::string_view);
  Elf64_Ehdr header_;
  Elf64_Shdr names_{};
  std::vector<Elf64_Shdr> sections_;
  std::vector<Elf64_Sym> symbols_;
  std::vector<char*> bases_;
  char* memory_ = nullptr;
  std::shared_ptr<void> owner_;  // of the memory
  uint64_t code_end_ = 0, constants_end_ = 0, jumps_ = 0, table_ = 0;
};

}  // namespace

Loaded load_object(std::string_view object, const std::string& symbol,
                   void* (*external)(std::string_view)) {
  return Loader(object, external).load(symbol);
}

}  // namespace numbus::compile
