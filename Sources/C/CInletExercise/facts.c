#include "exercise.h"

#include <dirent.h>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static int count_threads(void) {
    DIR *folder = opendir("/proc/self/task");
    if (!folder) return 0;
    int count = 0;
    for (struct dirent *entry; (entry = readdir(folder));) count += entry->d_name[0] != '.';
    closedir(folder);
    return count;
}

struct facts take_facts(void) {
    struct facts facts = {0};
    struct rlimit limit = {.rlim_cur = 1024};
    getrlimit(RLIMIT_NOFILE, &limit);
    int most = limit.rlim_cur > 4096 ? 4096 : (int)limit.rlim_cur;
    for (int i = 0; i < most; i++) facts.descriptors += fcntl(i, F_GETFD) >= 0;
    facts.threads = count_threads();
    struct mallinfo2 heap = mallinfo2();
    facts.heap = (int64_t)(heap.uordblks + heap.hblkhd);
    FILE *file = fopen("/proc/self/statm", "re");
    long long pages = 0;
    if (file && fscanf(file, "%lld", &pages) == 1) facts.pages = pages;
    if (file) fclose(file);
    return facts;
}

/* The number of entries in a symbol table, computed from the hash table of the GNU linkers or of System V. */
static size_t count_symbols(const uint32_t *gnu, const uint32_t *sysv) {
    if (sysv) return sysv[1];
    if (!gnu) return 0;
    uint32_t buckets = gnu[0], first = gnu[1], words = gnu[2], last = 0;
    const uint32_t *bucket = gnu + 4 + words * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
    const uint32_t *chain = bucket + buckets;
    for (uint32_t i = 0; i < buckets; i++)
        if (bucket[i] > last) last = bucket[i];
    if (last < first) return first;
    while (!(chain[last - first] & 1)) last++;
    return last + 1;
}

/* Whether linkers export the symbol by themselves. */
static int is_linkers(const char *name) {
    static const char *const names[] = {
        "", "_init", "_fini", "_edata", "edata", "_end", "end", "__bss_start", "_DYNAMIC", "__end__", "_bss_end__",
        "__bss_start__", "__bss_end__"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(name, names[i])) return 1;
    return 0;
}

struct stack_search {
    ElfW(Addr) base;
    int is_executable;
};

static int find_stack(struct dl_phdr_info *facts, size_t size, void *data) {
    (void)size;
    struct stack_search *search = data;
    if (facts->dlpi_addr != search->base) return 0;
    search->is_executable = 1;
    for (int i = 0; i < facts->dlpi_phnum; i++)
        if (facts->dlpi_phdr[i].p_type == PT_GNU_STACK)
            search->is_executable = (facts->dlpi_phdr[i].p_flags & PF_X) != 0;
    return 1;
}

void check_library(const void *entry, const char *path) {
    Dl_info where;
    struct link_map *map = NULL;
    if (!dladdr1(entry, &where, (void **)&map, RTLD_DL_LINKMAP) || !map || !map->l_ld)
        FAIL("inlet_plugin_entry is not in a library. Define it in %s itself.", path);
    const ElfW(Sym) *symbols = NULL;
    const char *texts = NULL;
    const uint32_t *gnu = NULL, *sysv = NULL;
    int has_text_relocations = 0;
    for (const ElfW(Dyn) *item = map->l_ld; item->d_tag != DT_NULL; item++) {
        switch (item->d_tag) {
        case DT_SYMTAB: symbols = (const void *)item->d_un.d_ptr; break;
        case DT_STRTAB: texts = (const void *)item->d_un.d_ptr; break;
        case DT_GNU_HASH: gnu = (const void *)item->d_un.d_ptr; break;
        case DT_HASH: sysv = (const void *)item->d_un.d_ptr; break;
        case DT_TEXTREL: has_text_relocations = 1; break;
        case DT_FLAGS: has_text_relocations |= (item->d_un.d_val & DF_TEXTREL) != 0; break;
        }
    }
    if (!symbols || !texts) end_with(NOT_APPLICABLE, "The library has no readable symbol table.");
    char others[200] = "";
    int count = 0;
    for (size_t i = 0, total = count_symbols(gnu, sysv); i < total; i++) {
        const ElfW(Sym) *symbol = &symbols[i];
        int binding = ELF64_ST_BIND(symbol->st_info), visibility = ELF64_ST_VISIBILITY(symbol->st_other);
        if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx == SHN_ABS || binding == STB_LOCAL) continue;
        if (visibility == STV_HIDDEN || visibility == STV_INTERNAL) continue;
        const char *name = texts + symbol->st_name;
        if (!strcmp(name, "inlet_plugin_entry") || is_linkers(name)) continue;
        if (count++ < 3) {
            size_t used = strlen(others);
            snprintf(others + used, sizeof others - used, "%s%.60s", used ? ", " : "", name);
        }
    }
    if (count)
        FAIL("The library exports %d symbol%s besides inlet_plugin_entry: %s%s. Compile with -fvisibility=hidden, or "
             "link with a version script, so that it cannot clash with other libraries.",
            count, count == 1 ? "" : "s", others, count > 3 ? " and others" : "");
    struct stack_search search = {.base = map->l_addr};
    dl_iterate_phdr(find_stack, &search);
    if (search.is_executable)
        FAIL("The library requests an executable stack, which makes attacks easy. Link it with -Wl,-z,noexecstack.");
    if (has_text_relocations)
        FAIL("The library has relocations in its code, which must therefore be writable. Compile it with -fPIC.");
}
