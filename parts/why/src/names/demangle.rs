//! Names of functions as their authors wrote them.

use gimli::{DW_LANG_Rust, DwLang};

/// Longest name that is shown; generic code can have names of many kilobytes.
pub(super) const NAME_CHARS_MAX: usize = 200;

/// The name of a symbol. Of an unknown language each way of mangling is tried.
pub(super) fn demangled(raw: &str, language: Option<DwLang>) -> String {
    let of_rust = || rustc_demangle::try_demangle(raw).ok().map(|name| format!("{name:#}"));
    let name = match language {
        Some(language) if language == DW_LANG_Rust => of_rust(),
        _ if raw.starts_with("_R") => of_rust(),
        // Older Rust mangles like C++, and a hash ends its names.
        _ if raw.starts_with("_ZN") => of_rust().or_else(|| of_cpp(raw)),
        _ if raw.starts_with("_Z") => of_cpp(raw),
        _ => None,
    };
    shown(&name.unwrap_or_else(|| plain(raw).to_owned()))
}

fn of_cpp(raw: &str) -> Option<String> {
    let symbol = cpp_demangle::BorrowedSymbol::new(raw.as_bytes()).ok()?;
    let options = cpp_demangle::DemangleOptions::new().no_params().no_return_type();
    symbol.demangle_with_options(&options).ok().map(|name| as_written(&name))
}

/// The standard library's strings as programs write them, and names without the marks of its versions.
fn as_written(name: &str) -> String {
    let plain =
        name.replace("std::__cxx11::", "std::").replace("std::__1::", "std::").replace("[abi:cxx11]", "");
    let string =
        ["char", "char, std::char_traits<char>", "char, std::char_traits<char>, std::allocator<char> "];
    let short = |name: String, parameters: &&str| {
        name.replace(&format!("std::basic_string<{parameters}>"), "std::string")
    };
    string.iter().rev().fold(plain, short)
}

/// The name without the version of a symbol (`memcpy@@GLIBC_2.14`).
fn plain(raw: &str) -> &str {
    raw.split_once("@@").map_or(raw, |(name, _)| name)
}

/// A name of the service's own choice, as text that hides nothing and has a bounded length.
pub(super) fn shown(name: &str) -> String {
    let visible = tare_host::foreign::quotable(name).replace('\n', " ");
    match visible.char_indices().nth(NAME_CHARS_MAX) {
        Some((end, _)) => format!("{}...", &visible[..end]),
        None => visible,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_language_is_shown_as_it_is_written() {
        let cases = [
            ("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad"),
            ("_RNvCs1234_7mycrate3foo", "mycrate::foo"),
            ("_ZN3foo3barEv", "foo::bar"),
            ("_ZN4shop4Json6renderB5cxx11ERKNS_4ItemE", "shop::Json::render"),
            (
                "_ZNSt6vectorINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEESaIS5_EE9push_backEOS5_",
                "std::vector<std::string, std::allocator<std::string > >::push_back",
            ),
            ("main.(*shop).signBody", "main.(*shop).signBody"),
            ("memcpy@@GLIBC_2.14", "memcpy"),
            ("_Znot_mangled", "_Znot_mangled"),
        ];
        for (raw, expected) in cases {
            assert_eq!(demangled(raw, None), expected, "{raw}");
        }
    }

    #[test]
    fn a_name_hides_nothing_and_ends() {
        assert_eq!(shown("a\u{1b}[2J\nb"), "a\\u{1b}[2J b");
        assert_eq!(shown(&"x".repeat(5000)).len(), NAME_CHARS_MAX + 3);
    }
}
