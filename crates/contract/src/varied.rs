//! Requests given as single texts instead of a contract: a path, headers and a body, with placeholders.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::placeholder::{PlaceholderError, Template, Values};

/// The texts of one request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Varied {
    path: Template,
    texts: Vec<Template>,
}

/// The texts with placeholders filled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VariedTexts {
    pub path: String,
    /// In the given order.
    pub texts: Vec<String>,
}

impl Varied {
    /// Parses the placeholders of a path with its query, and of the other texts.
    ///
    /// # Errors
    /// A placeholder is unknown, not closed, or has an invalid name or range, or one name has two kinds.
    pub fn parse(path: &str, texts: &[&str]) -> Result<Varied, PlaceholderError> {
        let texts = texts.iter().map(|text| Template::parse(text)).collect::<Result<Vec<_>, _>>()?;
        let varied = Varied { path: Template::parse(path)?, texts };
        varied.one_kind_a_name()?;
        Ok(varied)
    }

    /// Whether two requests can differ.
    pub fn varies(&self) -> bool {
        self.templates().any(|template| template.placeholders().next().is_some())
    }

    /// `count` requests, reproducible by the seed.
    pub fn fill(&self, seed: u64, count: usize) -> Vec<VariedTexts> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut one = || {
            let mut values = Values::new(&mut rng, None);
            let path = self.path.fill_encoded(&mut values);
            VariedTexts { path, texts: self.texts.iter().map(|text| text.fill(&mut values)).collect() }
        };
        (0..count).map(|_| one()).collect()
    }

    fn templates(&self) -> impl Iterator<Item = &Template> {
        std::iter::once(&self.path).chain(&self.texts)
    }

    fn one_kind_a_name(&self) -> Result<(), PlaceholderError> {
        let named = || self.templates().flat_map(Template::placeholders).filter(|hole| hole.name.is_some());
        let differs = |hole: &&super::placeholder::Placeholder| {
            named().any(|other| other.name == hole.name && other.kind != hole.kind)
        };
        match named().find(differs).and_then(|hole| hole.name.clone()) {
            Some(name) => Err(PlaceholderError::TwoKinds { name }),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_vary_and_a_name_has_one_value_in_a_request() {
        let varied =
            Varied::parse("/items/{{number:1-1000.id}}?q={{text}}", &["{\"id\":{{number:1-1000.id}}}"])
                .unwrap();
        assert!(varied.varies());
        let all = varied.fill(7, 50);
        assert_eq!(all, varied.fill(7, 50));
        assert_ne!(all, varied.fill(8, 50));
        for one in &all {
            let (id, query) = one.path.strip_prefix("/items/").unwrap().split_once("?q=").unwrap();
            assert!((1..=1000).contains(&id.parse::<u32>().unwrap()), "{id}");
            assert_eq!(one.texts, [format!("{{\"id\":{id}}}")]);
            let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~%".contains(&byte);
            assert!(query.bytes().all(is_plain), "a path takes no spaces: {query}");
        }
        let paths: std::collections::BTreeSet<&str> = all.iter().map(|one| one.path.as_str()).collect();
        assert!(paths.len() > 40, "{}", paths.len());
    }

    #[test]
    fn a_text_without_placeholders_is_itself() {
        let fixed = Varied::parse("/a?b=c", &["{\"a\":{\"b\":1}}"]).unwrap();
        assert!(!fixed.varies());
        let [one] = fixed.fill(1, 1).try_into().unwrap();
        assert_eq!((one.path.as_str(), one.texts), ("/a?b=c", vec!["{\"a\":{\"b\":1}}".to_owned()]));
    }

    #[test]
    fn mistakes_are_named() {
        let error = |path: &str, text: &str| Varied::parse(path, &[text]).unwrap_err().to_string();
        assert_eq!(error("/{{nmber}}", ""), "unknown placeholder \"nmber\"; did you mean \"number\"?");
        let two = error("/{{number.a}}", "{{label.a}}");
        assert_eq!(two, "the placeholders named \"a\" are of two kinds: give them two names");
    }
}
