//! The ways in which the service cheats.

/// A kind of cheat, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cheat {
    None,
    Caches,
    SkipsQuery,
    Batches,
    Unescaped,
    SortsWrongly,
    LosesUpdates,
    LosesUpdatesAllCounted,
    LosesUpdatesRarely,
    ForgetsChange,
    EchoesLength,
    MixesUp,
    CompressesOther,
    CachesGateway,
    CachesItems,
}

/// Each cheat with its name and description.
const ALL: [(Cheat, &str, &str); 15] = [
    (Cheat::None, "none", "honours all contracts"),
    (Cheat::Caches, "caches", "db: reads all rows once, and answers out of memory"),
    (Cheat::SkipsQuery, "skips-query", "db: invents the number"),
    (Cheat::Batches, "batches", "queries: one statement reads all rows"),
    (Cheat::Unescaped, "unescaped", "fortunes: texts are written as they are"),
    (Cheat::SortsWrongly, "sorts-wrongly", "fortunes: the row that is added comes last"),
    (Cheat::LosesUpdates, "loses-updates", "updates: one in 20 numbers is answered and not written"),
    (
        Cheat::LosesUpdatesAllCounted,
        "loses-updates-all-counted",
        "updates: in one row of 20 the old number is written, and another one answered",
    ),
    (
        Cheat::LosesUpdatesRarely,
        "loses-updates-rarely",
        "updates: the same in one row of 1000, and only while another update is under way",
    ),
    (Cheat::ForgetsChange, "forgets-change", "crud: a change is answered and not written"),
    (Cheat::EchoesLength, "echoes-length", "upload: answers the Content-Length without reading the body"),
    (Cheat::MixesUp, "mixes-up", "crud, gateway: two answers under way are swapped, one in 200"),
    (Cheat::CompressesOther, "compresses-other", "compress: what is compressed is another answer"),
    (
        Cheat::CachesGateway,
        "caches-gateway",
        "gateway: an item that was asked for once is answered out of memory",
    ),
    (Cheat::CachesItems, "caches-items", "crud: an item that was read once is answered out of memory"),
];

impl Cheat {
    pub(crate) fn parse(name: &str) -> Result<Cheat, String> {
        let found = ALL.iter().find(|(_, known, _)| *known == name);
        found.map(|(cheat, ..)| *cheat).ok_or_else(|| format!("CHEAT is {name:?}, which is none: see --help"))
    }

    pub(crate) fn help() -> String {
        ALL.iter().map(|(_, name, what)| format!("{name:<26}{what}\n")).collect()
    }
}
