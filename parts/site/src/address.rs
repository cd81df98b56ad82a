//! The paths within a site. They are stable, and relative, so that a site also opens from disk.

use std::fmt::Write;

/// The longest name of a folder; longer ones are cut and get a part of their hash.
const NAME_BYTES_MAX: usize = 100;

/// The target of a link within a site.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Address<'a> {
    Index,
    Run(&'a str),
    Experiment(&'a str),
    Service(&'a str),
    Language(&'a str),
    Claims,
    Versus,
    /// The page of two services, in alphabetical order.
    Pair([&'a str; 2]),
    Method,
    Data,
}

impl<'a> Address<'a> {
    /// The page of two services, which is one in either order.
    pub(crate) fn pair(one: &'a str, other: &'a str) -> Address<'a> {
        Address::Pair(if one < other { [one, other] } else { [other, one] })
    }

    /// The path of its page, from the root of the site.
    pub(crate) fn path(self) -> String {
        let of = |folder: &str, name: &str| format!("{folder}/{}/index.html", slug(name));
        match self {
            Address::Index => "index.html".to_owned(),
            Address::Run(id) => of("run", id),
            Address::Experiment(name) => of("experiment", name),
            Address::Service(name) => of("service", name),
            Address::Language(name) => of("language", name),
            Address::Claims => "claims/index.html".to_owned(),
            Address::Versus => "vs/index.html".to_owned(),
            Address::Pair([one, other]) => format!("vs/{}/{}/index.html", slug(one), slug(other)),
            Address::Method => "method/index.html".to_owned(),
            Address::Data => "data/index.html".to_owned(),
        }
    }

    /// The path from its page to the root: `../../`.
    pub(crate) fn root(self) -> String {
        "../".repeat(self.path().matches('/').count())
    }
}

/// A name as a part of a path and of a link: different names have different slugs.
pub(crate) fn slug(name: &str) -> String {
    let mut slug = String::with_capacity(name.len());
    for (place, byte) in name.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' => slug.push(char::from(byte)),
            b'.' if place > 0 => slug.push('.'),
            byte => _ = write!(slug, "_{byte:02x}"),
        }
    }
    if slug.len() <= NAME_BYTES_MAX {
        return slug;
    }
    let hash = blake3::hash(name.as_bytes()).to_hex();
    format!("{}_{}", &slug[..NAME_BYTES_MAX - 17], &hash[..16])
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_name_is_one_part_of_a_path_whatever_it_holds() {
        assert_eq!(slug("restinio:timers"), "restinio_3atimers");
        assert_eq!(slug(".."), "_2e.");
        assert_eq!(slug("a/b c_"), "a_2fb_20c_5f");
    }

    #[test]
    fn two_names_have_two_paths() {
        let long = "x".repeat(300);
        let names = ["a:b", "a_3ab", "a.b", ".a", "a", "A", &long, &format!("{long}y"), "", "_"];
        let slugs: HashSet<String> = names.iter().map(|name| slug(name)).collect();
        assert_eq!(slugs.len(), names.len());
        assert!(slugs.iter().all(|slug| slug.len() <= NAME_BYTES_MAX));
    }

    #[test]
    fn a_page_knows_the_way_to_the_root() {
        assert_eq!(Address::Index.root(), "");
        assert_eq!(Address::Run("a").root(), "../../");
        assert_eq!(Address::Claims.root(), "../");
        assert_eq!(Address::pair("b", "a/").path(), "vs/a_2f/b/index.html");
        assert_eq!(Address::pair("b", "a").root(), "../../../");
    }
}
