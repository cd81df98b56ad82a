//! The shared libraries of an executable, except those that every program of its language needs.

use std::path::{Path, PathBuf};

use super::ask::ask;

/// The runtimes of C and C++, which every machine or the toolchain provides.
const RUNTIME: [&str; 12] = [
    "libc.so.",
    "libm.so.",
    "libmvec.so.",
    "libpthread.so.",
    "libdl.so.",
    "librt.so.",
    "libutil.so.",
    "libresolv.so.",
    "libanl.so.",
    "libgcc_s.so.",
    "libatomic.so.",
    "libstdc++.so.",
];

/// The files that the loader would load; none for a statically linked program.
pub(super) fn libraries(program: &Path) -> Vec<PathBuf> {
    parse(&ask(Path::new("/"), "ldd", [program]))
}

/// Parses lines such as `libz.so.1 => /lib/x86_64-linux-gnu/libz.so.1 (0x00007f)`; the loader has no arrow.
fn parse(text: &str) -> Vec<PathBuf> {
    let file = |line: &str| {
        let (name, rest) = line.trim().split_once(" => ")?;
        let (path, _) = rest.rsplit_once(" (")?;
        (!RUNTIME.iter().any(|runtime| name.starts_with(runtime))).then(|| PathBuf::from(path))
    };
    text.lines().filter_map(file).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_runtime_is_no_library_of_the_service() {
        let text = "\tlinux-vdso.so.1 (0x00007f1c06065000)\n\
            \tlibfmt.so.9 => /lib/x86_64-linux-gnu/libfmt.so.9 (0x00007f1c05f7b000)\n\
            \tlibgone.so.1 => not found\n\
            \tlibstdc++.so.6 => /lib/x86_64-linux-gnu/libstdc++.so.6 (0x00007f1c05c00000)\n\
            \tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f1c05a1e000)\n\
            \t/lib64/ld-linux-x86-64.so.2 (0x00007f1c06067000)\n";
        assert_eq!(parse(text), [PathBuf::from("/lib/x86_64-linux-gnu/libfmt.so.9")]);
        assert!(parse("\tnot a dynamic executable\n").is_empty());
    }
}
