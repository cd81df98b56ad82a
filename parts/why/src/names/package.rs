//! Which package a function belongs to: a crate, a package of Go, npm, PyPI or Java, an assembly, a library. Its file says so, or the way
//! in which its language spells names.

pub use tare_analysis::why::OWN_CODE;

use super::{KERNEL, jit};

/// The program, if its names say no more.
pub const PROGRAM: &str = "the program";
/// The crates that come with Rust's compiler.
const STANDARD_OF_RUST: [&str; 4] = ["core", "alloc", "std", "hashbrown"];
/// Folders whose next part is a package of a script.
const SCRIPT_FOLDERS: [&str; 3] = ["node_modules/", "site-packages/", "dist-packages/"];
/// How many parts of a name are a package of Java, such as `org.springframework.web`.
const JAVA_PARTS: usize = 3;
/// How many parts of a namespace are a package of .NET.
const DOTNET_PARTS: usize = 2;
/// The package of a program in Go.
const MAIN_OF_GO: &str = "main";

/// The package of a function with this name in this library (empty: the program), and its file, if that is known.
pub(super) fn of(name: &str, module: &str, file: Option<&str>, is_own: bool) -> String {
    if name == KERNEL || module == KERNEL {
        return KERNEL.to_owned();
    }
    if let Some(special) = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        return special.strip_suffix(".dll").unwrap_or(special).to_owned();
    }
    let by_script = file.and_then(of_script).or_else(|| is_own.then(|| OWN_CODE.to_owned()));
    let known = by_script.or_else(|| Some(module.to_owned()).filter(|module| !module.is_empty()));
    // A whole name says more than the file: its first line may be of a function that was compiled into it.
    let known = known.or_else(|| of_path(name)).or_else(|| file.and_then(of_crate));
    match known.or_else(|| of_dotted(name)) {
        Some(package) if package == MAIN_OF_GO => OWN_CODE.to_owned(),
        Some(package) => package,
        None => PROGRAM.to_owned(),
    }
}

/// The package of a script, by the folder that its file is in.
fn of_script(file: &str) -> Option<String> {
    let in_packages = SCRIPT_FOLDERS.iter().find_map(|folder| Some(file.rsplit_once(folder)?.1));
    if let Some(rest) = in_packages {
        let mut parts = rest.split('/');
        let first = parts.next()?;
        let scoped = first.starts_with('@').then(|| parts.next()).flatten();
        return Some(match scoped {
            Some(second) => format!("{first}/{second}"),
            None => first.trim_end_matches(".py").to_owned(),
        });
    }
    if file.starts_with("node:") {
        return Some("node".to_owned());
    }
    let is_of_python = file.contains("/lib/python") || file.starts_with("<frozen ");
    is_of_python.then(|| "Python's library".to_owned())
}

/// The crate of a file in a registry of Rust, by its folder there.
fn of_crate(file: &str) -> Option<String> {
    if let Some((_, rest)) = file.split_once("/registry/src/").or_else(|| file.split_once("/git/checkouts/"))
    {
        // `index.crates.io-0123/hyper-1.4.1/src/lib.rs`, or `hyper-0123/4567890/src/lib.rs`.
        let folder =
            if file.contains("/registry/src/") { rest.split('/').nth(1) } else { rest.split('/').next() };
        return Some(folder?.rsplit_once('-').map_or(folder?, |(name, _)| name).replace('-', "_"));
    }
    if file.starts_with("/rustc/") || file.contains("rust/library/") {
        return Some("std".to_owned());
    }
    None
}

/// The path that `<&mut hyper::Conn<T> as core::fmt::Debug>::fmt` begins with.
fn without_marks(name: &str) -> &str {
    let mut rest = name;
    loop {
        let plain = rest.trim_start_matches(|c: char| "<&*([ ".contains(c));
        let plain =
            ["mut ", "dyn ", "const "].iter().find_map(|mark| plain.strip_prefix(mark)).unwrap_or(plain);
        if plain == rest {
            return rest;
        }
        rest = plain;
    }
}

/// The crate of Rust or namespace of C++, which stands before the first `::`.
fn of_path(name: &str) -> Option<String> {
    if jit::is_of_v8(name) || name.starts_with("Builtins_") {
        return Some("v8".to_owned());
    }
    of_parts(without_marks(name))
}

/// The first part of a path, and the rest. `::` within type parameters divides no path.
fn split_path(path: &str) -> Option<(&str, &str)> {
    let mut depth = 0;
    for (at, byte) in path.bytes().enumerate() {
        match byte {
            b'<' => depth += 1,
            // Not that of `->`.
            b'>' if !path[..at].ends_with('-') => depth -= 1,
            b':' if depth <= 0 && path[at..].starts_with("::") => {
                return Some((&path[..at], &path[at + 2..]));
            }
            _ => {}
        }
    }
    None
}

fn of_parts(path: &str) -> Option<String> {
    let is_part = |part: &&str| !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || c == '_');
    let (first, rest) = split_path(path)?;
    let second = split_path(rest).map_or(rest, |(second, _)| second);
    let [first, second] = [first, second].map(|part| part.split('<').next().unwrap_or(part));
    match (Some(first).filter(is_part), second) {
        // A type parameter: the trait says more.
        (None, _) => path.split_once(" as ").and_then(|(_, of_trait)| of_parts(of_trait)),
        // Boost is many libraries.
        (Some("boost"), library) => Some(format!("boost::{library}")),
        (Some(first), _) if STANDARD_OF_RUST.contains(&first) => Some("std".to_owned()),
        (Some(first), _) => Some(first.to_owned()),
    }
}

/// The package in a name with dots: of Go (`net/http.(*conn).serve`), Java (`io.netty.channel.Pipe.read`) or .NET
/// (`System.Text.Json.Writer.Flush`).
fn of_dotted(name: &str) -> Option<String> {
    let (folders, last) = match name.split_once('(').map_or(name, |(before, _)| before).rfind('/') {
        Some(end) => name.split_at(end + 1),
        None => ("", name),
    };
    let parts: Vec<&str> = last.split('.').collect();
    let is_word = |part: &str| part.starts_with(|c: char| c.is_alphabetic() || c == '_');
    if parts.len() < 2 || !is_word(parts[0]) {
        return None;
    }
    // What begins with a capital letter is a type, and so is `(*Writer)`.
    let is_type = |part: &str| part.starts_with(char::is_uppercase) || !is_word(part);
    let lower = parts.iter().take_while(|part| !is_type(part)).count();
    let kept = match lower {
        // Namespaces of .NET begin with a capital letter.
        0 => parts.len().saturating_sub(2).clamp(1, DOTNET_PARTS),
        // Go has one part before a function, a method or a closure. Java has a class behind its package.
        _ if folders.is_empty() && lower < parts.len() => lower.min(JAVA_PARTS),
        _ => 1,
    };
    Some(format!("{folders}{}", parts[..kept].join(".")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_divides_type_parameters_divides_no_path() {
        let standard = Some("/rustc/0123/library/core/src/option.rs");
        assert_eq!(of("is_some_and<&shop::Item, shop::{closure_env#0}>", "", standard, false), "std");
        assert_eq!(of("swap<shop::Item>", "", None, false), "the program");
        assert_eq!(of("Pool<shop::Item, fn() -> shop::Item>::take", "", None, false), "Pool");
        assert_eq!(of("boost::swap<a::b>", "", None, false), "boost::swap");
    }

    #[test]
    fn each_language_has_its_packages() {
        let cases = [
            ("do_syscall_64", "[kernel]", None, "[kernel]"),
            ("[kernel]", "", None, "[kernel]"),
            ("[libc.so.6]", "", None, "libc.so.6"),
            ("[System.Private.CoreLib.dll]", "", None, "System.Private.CoreLib"),
            ("memcpy", "libc.so.6", None, "libc.so.6"),
            ("checksum", "", None, "the program"),
            ("checksum", "", Some("src/main.c"), "own code"),
            ("hyper::proto::h1::dispatch::Dispatcher<D,Bs,I,T>::poll_read", "", None, "hyper"),
            ("<&mut tokio::net::TcpStream as futures_io::AsyncRead>::poll_read", "", None, "tokio"),
            ("<T as axum::handler::Handler<M,S>>::call", "", None, "axum"),
            ("<alloc::vec::Vec<T> as core::ops::drop::Drop>::drop", "", None, "std"),
            ("core::ptr::drop_in_place<hyper::Body>", "", None, "std"),
            (
                "poll",
                "",
                Some("/c/registry/src/index.crates.io-1949cf8c6b5b557f/tower-http-0.5.2/src/lib.rs"),
                "tower_http",
            ),
            ("next", "", Some("/rustc/0123/library/core/src/iter/mod.rs"), "std"),
            ("hyper::serve", "", Some("/lib/rustlib/src/rust/library/core/src/cmp.rs"), "hyper"),
            ("boost::beast::http::basic_parser<true>::put", "", None, "boost::beast"),
            ("std::vector<a::b, std::allocator<a::b> >::push_back", "", None, "std"),
            ("(anonymous namespace)::serve", "", None, "the program"),
            ("net/http.(*conn).serve", "", Some("/usr/lib/go/src/net/http/server.go"), "net/http"),
            ("bufio.(*Writer).Write", "", None, "bufio"),
            ("net.(*OpError).Unwrap", "", None, "net"),
            ("strings.Builder.WriteString", "", None, "strings"),
            ("github.com/gin-gonic/gin.(*Context).Next", "", None, "github.com/gin-gonic/gin"),
            ("runtime.mallocgc", "", None, "runtime"),
            ("main.handler.func1", "", None, "own code"),
            ("encoding/json.Marshal", "", None, "encoding/json"),
            ("main.(*shop).sign", "", Some("main.go"), "own code"),
            (
                "org.springframework.web.servlet.DispatcherServlet.doDispatch",
                "",
                None,
                "org.springframework.web",
            ),
            ("java.util.HashMap.get", "", None, "java.util"),
            ("System.Threading.Tasks.Task.Run", "", None, "System.Threading"),
            ("A.B", "", None, "A"),
            ("handle", "", Some("/srv/node_modules/express/lib/router.js"), "express"),
            ("handle", "", Some("node_modules/a/node_modules/@fastify/error/index.js"), "@fastify/error"),
            ("emit", "", Some("node:events"), "node"),
            ("Builtin:ArrayPush", "", None, "v8"),
            ("Builtins_LoadIC", "", None, "v8"),
            ("v8::internal::Heap::Scavenge", "", None, "v8"),
            ("run", "", Some("/app/.venv/lib/python3.12/site-packages/fastapi/routing.py"), "fastapi"),
            ("loads", "", Some("/usr/lib/python3.12/json/__init__.py"), "Python's library"),
            ("typing.cast", "", Some("/x/site-packages/six.py"), "six"),
            ("sign", "", Some("app.py"), "own code"),
            ("_PyEval_EvalFrameDefault", "", None, "the program"),
        ];
        for (name, module, file, expected) in cases {
            let is_own = file.is_some_and(|file| !file.starts_with(['/', '<']) && !file.starts_with("node:"));
            assert_eq!(of(name, module, file, is_own), expected, "{name} {module} {file:?}");
        }
        for name in
            ["", "<", "<<&&", "::", " as ", "<T as >::", ".", "/", "a/", "(", "a.(", "[", "[]", "é::é"]
        {
            of(name, "", None, false);
            of("", "", Some(name), true);
        }
    }
}
