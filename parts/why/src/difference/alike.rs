//! Functions of the candidate that are functions of the baseline under another name: those of a script whose file or line is another.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::SampledBlock;
use crate::names::{FunctionId, Names};

/// How V8 calls functions without a name, here with their line.
const ANONYMOUS: &str = "(anonymous";

/// V8's own scripts: their functions are the same in both, and one that only one row has was called in it alone.
const OF_THE_RUNTIME: &str = "node:";

/// For functions that only the candidate has, those of the baseline that they are.
pub(super) fn pairs(rows: &[Vec<SampledBlock>], names: &Names) -> HashMap<FunctionId, FunctionId> {
    let [baseline, candidate] = rows else { return HashMap::new() };
    let (old, new) = (met(baseline), met(candidate));
    let only = |one: &HashSet<FunctionId>, other: &HashSet<FunctionId>| {
        let mut only: Vec<FunctionId> =
            one.difference(other).copied().filter(|id| is_of_script(names, *id)).collect();
        only.sort_unstable();
        only
    };
    let (mut gone, mut added) = (only(&old, &new), only(&new, &old));
    let mut pairs = HashMap::new();
    // First by the name alone, which of a function without one is its place. Then those without a name in the order of their lines.
    let name = |id: FunctionId| names.function(id).name.clone();
    let anonymous = |id: FunctionId| {
        let name = name(id);
        if name.starts_with(ANONYMOUS) { ANONYMOUS.to_owned() } else { name }
    };
    for by in [&name as &dyn Fn(FunctionId) -> String, &anonymous] {
        let (gone_by, added_by) = (grouped(&gone, names, by), grouped(&added, names, by));
        for (name, added) in added_by {
            let gone = gone_by.get(&name).map(Vec::as_slice).unwrap_or_default();
            // Of several only their order is left to go by.
            if added.len() == gone.len() {
                pairs.extend(added.into_iter().zip(gone.iter().copied()));
            }
        }
        gone.retain(|id| !pairs.values().any(|known| known == id));
        added.retain(|id| !pairs.contains_key(id));
    }
    pairs
}

fn met(blocks: &[SampledBlock]) -> HashSet<FunctionId> {
    blocks
        .iter()
        .flat_map(|block| block.profile.stacks.keys())
        .flat_map(|stack| stack.iter().copied())
        .collect()
}

fn is_of_script(names: &Names, id: FunctionId) -> bool {
    let function = names.function(id);
    let file = function.file.as_deref().filter(|file| !file.starts_with(OF_THE_RUNTIME));
    function.module.is_empty() && function.is_named && file.is_some()
}

/// Functions by a kind of name, each group in the order of their lines.
fn grouped(
    functions: &[FunctionId],
    names: &Names,
    by: &dyn Fn(FunctionId) -> String,
) -> BTreeMap<String, Vec<FunctionId>> {
    let mut found: BTreeMap<String, Vec<FunctionId>> = BTreeMap::new();
    for id in functions {
        found.entry(by(*id)).or_default().push(*id);
    }
    for same in found.values_mut() {
        same.sort_by_key(|id| (names.function(*id).line, names.function(*id).name.clone()));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::StackCounts;

    fn met_once(names: &mut Names, texts: &[&str]) -> Vec<SampledBlock> {
        let stacks = texts.iter().map(|text| (Box::from([names.spelled(text)]), 1)).collect();
        vec![SampledBlock {
            profile: StackCounts { stacks, ..StackCounts::default() },
            ..SampledBlock::default()
        }]
    }

    #[test]
    fn functions_of_another_file_or_line_are_matched() {
        let mut names = Names::default();
        let old = [
            "JS:*sign /a/old.js:3:1",
            "JS:* /a/old.js:5:9",
            "JS:* /a/old.js:9:9",
            "JS:*emit node:events:1:1",
        ];
        let new =
            ["JS:*sign /a/new.js:4:1", "JS:* /a/new.js:7:9", "JS:* /a/new.js:11:9", "JS:* node:net:8:8"];
        let rows = [met_once(&mut names, &old), met_once(&mut names, &new)];
        let found = pairs(&rows, &names);
        let expected = new.iter().zip(old).take(3).map(|(new, old)| (names.spelled(new), names.spelled(old)));
        assert_eq!(found, expected.collect());
    }
}
