//! The runtime base: the files that any program needs to start. Part of every profile.
//!
//! It never holds `/etc/hosts` or `/etc/resolv.conf` (served where hosts are granted), private keys, password hashes,
//! the machine's id, or any file of a user.

use super::Access;

/// One entry of the base.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BaseEntry {
    /// The path; skipped if it doesn't exist.
    pub path: &'static str,
    /// The accesses it allows.
    pub access: Access,
}

const RX: Access = Access::READ.union(Access::EXECUTE);
const RW: Access = Access::WRITING;

const fn entry(path: &'static str, access: Access) -> BaseEntry {
    BaseEntry { path, access }
}

/// Programs and libraries, the few files of `/etc` that libc, TLS, the locale and user lookups read, harmless devices,
/// and the kernel's information about itself.
pub const BASE: &[BaseEntry] = &[
    entry("/usr", RX),
    entry("/bin", RX),
    entry("/sbin", RX),
    entry("/lib", RX),
    entry("/lib32", RX),
    entry("/lib64", RX),
    entry("/libx32", RX),
    // The dynamic loader.
    entry("/etc/ld.so.cache", Access::READ),
    entry("/etc/ld.so.preload", Access::READ),
    // musl's loader finds no library at all if this exists and can't be read.
    entry("/etc/ld-musl-x86_64.path", Access::READ),
    entry("/etc/ld-musl-aarch64.path", Access::READ),
    // Names of the machine, of users and services; time; language.
    entry("/etc/hostname", Access::READ),
    entry("/etc/passwd", Access::READ),
    entry("/etc/group", Access::READ),
    entry("/etc/nsswitch.conf", Access::READ),
    entry("/etc/host.conf", Access::READ),
    entry("/etc/gai.conf", Access::READ),
    entry("/etc/services", Access::READ),
    entry("/etc/protocols", Access::READ),
    entry("/etc/localtime", Access::READ),
    entry("/etc/timezone", Access::READ),
    entry("/etc/locale.alias", Access::READ),
    entry("/etc/locale.conf", Access::READ),
    entry("/etc/mime.types", Access::READ),
    // Read by `file` and `man` at each start.
    entry("/etc/magic", Access::READ),
    entry("/etc/manpath.config", Access::READ),
    entry("/etc/groff", Access::READ),
    entry("/var/cache/man/index.db", Access::READ),
    // Without its policy file ImageMagick does what the file forbids.
    entry("/etc/ImageMagick-6", Access::READ),
    entry("/etc/ImageMagick-7", Access::READ),
    // Editors, browsers, office suites and compilers prompt or fail if these exist and can't be read.
    entry("/etc/papersize", Access::READ),
    entry("/etc/sensors3.conf", Access::READ),
    entry("/etc/sensors.d", Access::READ),
    entry("/etc/chromium.d", Access::READ),
    entry("/etc/libreoffice", Access::READ),
    entry("/var/lib/ghc", Access::READ),
    entry("/var/cache/fontconfig", Access::READ),
    // The distribution's identity; pip and many installers give up without it.
    entry("/etc/os-release", Access::READ),
    entry("/etc/debian_version", Access::READ),
    entry("/etc/lsb-release", Access::READ),
    entry("/etc/redhat-release", Access::READ),
    entry("/etc/fedora-release", Access::READ),
    entry("/etc/system-release", Access::READ),
    entry("/etc/alpine-release", Access::READ),
    entry("/etc/arch-release", Access::READ),
    // git fails if it exists and can't be read.
    entry("/etc/gitconfig", Access::READ),
    entry("/etc/terminfo", Access::READ),
    entry("/etc/inputrc", Access::READ),
    // wget complains in every run if it exists and can't be read.
    entry("/etc/wgetrc", Access::READ),
    // Start-up files of shells and editors. Not `/etc/profile`: it overwrites the passed `PATH`, and the files of a
    // home that would restore it aren't there.
    entry("/etc/bash.bashrc", Access::READ),
    entry("/etc/bashrc", Access::READ),
    entry("/etc/bash", Access::READ),
    entry("/etc/zsh/zshenv", Access::READ),
    entry("/etc/zsh/zshrc", Access::READ),
    entry("/etc/zshenv", Access::READ),
    entry("/etc/zshrc", Access::READ),
    entry("/etc/fish", Access::READ),
    entry("/etc/tmux.conf", Access::READ),
    entry("/etc/vim", Access::READ),
    entry("/etc/vimrc", Access::READ),
    entry("/etc/nanorc", Access::READ),
    // Settings of runtimes, under the names of Debian, Fedora, Alpine and Arch.
    // Debian's Maven keeps its settings here, and fails if it can't read one. A person's are in `~/.m2`, which is closed.
    entry("/etc/maven", Access::READ),
    entry("/etc/java", Access::READ),
    entry("/etc/java-8-openjdk", Access::READ),
    entry("/etc/java-11-openjdk", Access::READ),
    entry("/etc/java-17-openjdk", Access::READ),
    entry("/etc/java-21-openjdk", Access::READ),
    entry("/etc/java-25-openjdk", Access::READ),
    entry("/etc/java-openjdk", Access::READ),
    entry("/etc/java8-openjdk", Access::READ),
    entry("/etc/java11-openjdk", Access::READ),
    entry("/etc/java17-openjdk", Access::READ),
    entry("/etc/java21-openjdk", Access::READ),
    entry("/etc/java25-openjdk", Access::READ),
    entry("/etc/perl", Access::READ),
    entry("/etc/php", Access::READ),
    entry("/etc/php.ini", Access::READ),
    entry("/etc/php.d", Access::READ),
    entry("/etc/php82", Access::READ),
    entry("/etc/php83", Access::READ),
    entry("/etc/php84", Access::READ),
    entry("/etc/php85", Access::READ),
    entry("/etc/python3", Access::READ),
    entry("/etc/python3.11", Access::READ),
    entry("/etc/python3.12", Access::READ),
    entry("/etc/python3.13", Access::READ),
    entry("/etc/python3.14", Access::READ),
    entry("/etc/R", Access::READ),
    entry("/etc/julia", Access::READ),
    entry("/etc/dotnet", Access::READ),
    entry("/etc/ocamlfind.conf", Access::READ),
    entry("/etc/texmf", Access::READ),
    entry("/etc/fonts", Access::READ),
    entry("/etc/gdb", Access::READ),
    // TLS: public certificates and the library's settings, never /etc/ssl/private.
    entry("/etc/ssl/certs", Access::READ),
    entry("/etc/ssl/openssl.cnf", Access::READ),
    entry("/etc/pki/tls/certs", Access::READ),
    entry("/etc/pki/tls/openssl.cnf", Access::READ),
    entry("/etc/pki/ca-trust", Access::READ),
    entry("/etc/pki/java", Access::READ),
    entry("/etc/ca-certificates/extracted", Access::READ),
    entry("/etc/crypto-policies", Access::READ),
    // Devices without state.
    entry("/dev/null", RW),
    entry("/dev/zero", RW),
    entry("/dev/full", RW),
    entry("/dev/random", RW),
    entry("/dev/urandom", RW),
    // The target's own terminal, whichever it is.
    entry("/dev/tty", RW),
    // The kernel's information about the machine; nothing about other processes.
    entry("/proc/cpuinfo", Access::READ),
    entry("/proc/meminfo", Access::READ),
    entry("/proc/stat", Access::READ),
    entry("/proc/uptime", Access::READ),
    entry("/proc/loadavg", Access::READ),
    entry("/proc/version", Access::READ),
    entry("/proc/filesystems", Access::READ),
    entry("/proc/sys", Access::READ),
    entry("/sys/devices/system/cpu", Access::READ),
    entry("/sys/devices/system/node", Access::READ),
    entry("/sys/kernel/mm/transparent_hugepage", Access::READ),
];
