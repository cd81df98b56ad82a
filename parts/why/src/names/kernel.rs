//! Functions of the kernel, if it shows where they are.

use std::path::Path;

const PATH: &str = "/proc/kallsyms";
const BYTES_MAX: u64 = 64 << 20;

/// Functions by their addresses, sorted. Empty if the kernel hides them from this user.
#[derive(Debug, Default)]
pub(super) struct KernelSymbols(Vec<(u64, String)>);

impl KernelSymbols {
    pub(super) fn read() -> KernelSymbols {
        let bytes = tare_host::foreign::read(Path::new(PATH), BYTES_MAX).unwrap_or_default();
        KernelSymbols::parse(&String::from_utf8_lossy(&bytes))
    }

    fn parse(text: &str) -> KernelSymbols {
        let symbol = |line: &str| {
            let mut words = line.split_ascii_whitespace();
            let address = u64::from_str_radix(words.next()?, 16).ok()?;
            let is_code = matches!(words.next()?, "t" | "T" | "w" | "W");
            let name = words.next()?;
            (is_code && address > 0).then(|| (address, name.to_owned()))
        };
        let mut symbols: Vec<(u64, String)> = text.lines().filter_map(symbol).collect();
        symbols.sort();
        KernelSymbols(symbols)
    }

    pub(super) fn find(&self, address: u64) -> Option<&str> {
        let after = self.0.partition_point(|(start, _)| *start <= address);
        self.0.get(after.checked_sub(1)?).map(|(_, name)| name.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_found_unless_their_addresses_are_hidden() {
        let text = "ffffffff81000000 T _stext\n\
            ffffffff81000100 t do_syscall_64\nffffffff81000080 D data\nffffffff81000200 W tcp_sendmsg\t[m]\n";
        let symbols = KernelSymbols::parse(text);
        assert_eq!(symbols.find(0xffff_ffff_8100_0180), Some("do_syscall_64"));
        assert_eq!((symbols.find(0xffff_ffff_8100_0201), symbols.find(1)), (Some("tcp_sendmsg"), None));
        assert_eq!(KernelSymbols::parse("0000000000000000 T _stext\n").find(5), None);
    }
}
