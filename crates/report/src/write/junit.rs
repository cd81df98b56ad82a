//! JUnit XML, which every CI server shows: a test case per check of the document.
//!
//! Invalid measurements and undecided questions are errors, not skipped tests: the command has exit codes for
//! them, and a gate that could not be evaluated must not look passed. Skipped are rows that were left out
//! before the measurement, such as a service without its toolchain.

use quick_junit::{NonSuccessKind, Property, Report, TestCase, TestCaseStatus, TestSuite};

use super::visible;
use crate::document::{Check, Document, Verdict};
use tare_analysis::verdict::TestOutcome;

/// The checks as test cases of one suite.
#[must_use]
pub fn junit(document: &Document) -> String {
    let mut suite = TestSuite::new(visible(&document.title));
    for (name, value) in properties(document) {
        suite.add_property(Property::new(name, visible(&value)));
    }
    suite.add_test_cases(document.checks.iter().map(|check| case(check, &document.title)));
    if !document.damage.is_empty() {
        suite.set_system_err(visible(&document.damage.join("\n")));
    }
    let mut report = Report::new("tare");
    report.add_test_suite(suite);
    report.to_string().expect("memory takes all, and nothing in it has a time zone to be wrong about")
}

fn properties(document: &Document) -> Vec<(String, String)> {
    let word = |value: serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let of = |name: &str, value: String| (name.to_owned(), value);
    let mut all = vec![
        of("kind", word(serde_json::json!(document.kind))),
        of("status", word(serde_json::json!(document.status))),
        of("began", document.began.clone()),
        of("question", document.question.clone()),
        of("answer", document.whole_answer()),
    ];
    all.extend(document.facts.iter().map(|fact| (visible(&fact.label), fact.text.clone())));
    all.retain(|(_, value)| !value.is_empty());
    all
}

fn case(check: &Check, title: &str) -> TestCase {
    let text = visible(&check.text);
    let without_success = |kind| {
        let mut status = TestCaseStatus::non_success(kind);
        status.set_type(check.verdict.name()).set_message(&text);
        status
    };
    let status = match check.verdict.test_outcome() {
        TestOutcome::Success => TestCaseStatus::success(),
        TestOutcome::Failure => without_success(NonSuccessKind::Failure),
        TestOutcome::Error => without_success(NonSuccessKind::Error),
        TestOutcome::Skipped => {
            let mut status = TestCaseStatus::skipped();
            status.set_message(&text);
            status
        }
    };
    let mut case = TestCase::new(visible(&check.name), status);
    case.set_classname(visible(title));
    if check.verdict == Verdict::Pass && !text.is_empty() {
        case.set_system_out(text);
    }
    case
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use roxmltree::Node;

    use super::*;
    use crate::write::fixture::{self, HOSTILE, hostile, interleaved};

    #[test]
    fn a_case_for_each_check() {
        insta::assert_snapshot!(junit(&interleaved()));
    }

    #[test]
    fn hostile_names_stay_names() {
        let text = junit(&hostile());
        let xml = roxmltree::Document::parse(&text).unwrap();
        let names: Vec<&str> = cases(xml.root()).map(|case| case.attribute("name").unwrap()).collect();
        assert_eq!(names, HOSTILE.map(|name| flat(&visible(name))));
        insta::assert_snapshot!(text);
    }

    fn cases<'a>(root: Node<'a, 'a>) -> impl Iterator<Item = Node<'a, 'a>> {
        root.descendants().filter(|node| node.has_tag_name("testcase"))
    }

    /// Writes white space by number, because XML readers replace white space in attributes by spaces.
    fn flat(text: &str) -> String {
        text.replace('\n', " ")
    }

    fn verdict() -> impl Strategy<Value = Verdict> {
        prop::sample::select(Verdict::ALL.to_vec())
    }

    proptest! {
        #[test]
        fn whatever_the_words_it_is_xml_that_says_them(
            checks in prop::collection::vec((fixture::text(), verdict(), fixture::text()), 0..6),
            title in fixture::text(),
        ) {
            let checks: Vec<Check> =
                checks.into_iter().map(|(name, verdict, text)| Check::new(name, verdict, text)).collect();
            let document = Document { title: title.clone(), damage: vec![title], checks, ..interleaved() };
            let text = junit(&document);
            let xml = match roxmltree::Document::parse(&text) {
                Ok(xml) => xml,
                Err(error) => return Err(TestCaseError::fail(format!("{error}: {text}"))),
            };
            let found: Vec<Node> = cases(xml.root()).collect();
            prop_assert_eq!(found.len(), document.checks.len());
            for (case, check) in found.iter().zip(&document.checks) {
                prop_assert_eq!(flat(case.attribute("name").unwrap()), flat(&visible(&check.name)));
                let said = case.children().find_map(|child| child.attribute("message"));
                if check.verdict != Verdict::Pass {
                    prop_assert_eq!(flat(said.unwrap()), flat(&visible(&check.text)));
                }
            }
        }
    }
}
