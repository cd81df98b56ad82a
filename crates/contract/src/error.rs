//! Errors of a contract, each in one line with file, line, name and fix.

use std::path::PathBuf;

use super::json_path::JsonPathError;
use tare_load::text_pattern::TextPatternError;

use super::placeholder::{PlaceholderError, ROWS_MAX};
use tare_base::document::DocumentError;

#[derive(Debug, thiserror::Error)]
pub enum ContractError {
    #[error(transparent)]
    Read(#[from] DocumentError),
    #[error("{}: cannot be listed: {source}", path.display())]
    List { path: PathBuf, source: std::io::Error },
    #[error("{}:{line}: {problem}", path.display())]
    Check { path: PathBuf, line: usize, problem: Problem },
}

/// A part of a contract, or an error with its byte offset in the file.
pub(super) type Lowered<T> = Result<T, (usize, Problem)>;

/// An error in the meaning of a contract. `suggestion` ends the sentence with the nearest valid name.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    #[error("the name is \"{name}\", but the file is called \"{stem}.toml\": they must be the same")]
    Name { name: String, stem: String },
    #[error("unknown check \"{name}\"{suggestion}")]
    UnknownCheck { name: String, suggestion: String },
    #[error("unknown method \"{name}\"{suggestion}")]
    UnknownMethod { name: String, suggestion: String },
    #[error(transparent)]
    Placeholder(#[from] PlaceholderError),
    #[error(
        "the name \"{name}\" stands for two placeholders of different kinds: give one of them another name"
    )]
    PlaceholderOfTwoKinds { name: String },
    #[error("{{{{{placeholder}}}}} may hold spaces, which {place} cannot: use {{{{label}}}}")]
    SpacesIn { placeholder: String, place: &'static str },
    #[error(
        "the placeholder {{{{{placeholder}}}}} has no name: a response can only repeat what the request says, like {{{{{placeholder}.a}}}}"
    )]
    NamelessPlaceholder { placeholder: String },
    #[error(
        "the placeholder {{{{{placeholder}}}}} does not stand in the request: the service cannot know its value"
    )]
    UnknowablePlaceholder { placeholder: String },
    #[error(
        "{{{{{placeholder}}}}} has its place in what is sent: an answer that repeats a secret could not be shown"
    )]
    SecretInAnswer { placeholder: String },
    #[error("the table \"{name}\" needs \"file\", or \"rows\" and \"columns\"")]
    TableOfNothing { name: String },
    #[error("the table \"{name}\" has the name of a placeholder: give it another")]
    TableOfAPlaceholder { name: String },
    #[error("the table \"{name}\" needs a name of a-z, 0-9 and \"_\" that begins with a letter")]
    TableName { name: String },
    #[error("{reason}")]
    Table { reason: String },
    #[error("{reason}")]
    Protocols { reason: String },
    #[error("a table has 1 to {ROWS_MAX} rows, not {count}")]
    TableRows { count: u64 },
    #[error("the column {name:?} needs a name without braces and line breaks")]
    ColumnName { name: String },
    #[error(
        "{{{{{placeholder}}}}} has its place in requests: a table is written to a file, which must hold no secret"
    )]
    SecretInTable { placeholder: String },
    #[error("{{{{{placeholder}}}}} may hold line breaks, or blanks at its ends, which {place} cannot")]
    LinesIn { placeholder: String, place: &'static str },
    #[error("{{{{{placeholder}}}}} is no JSON where it is {wrong:?}: put quotes around it")]
    CellIsNoJson { placeholder: String, wrong: String },
    #[error(
        "{{{{{placeholder}}}}} is of a row that the request does not name: put a column of \"{table}\" into the request too"
    )]
    RowOfNoRequest { placeholder: String, table: String },
    #[error("the path \"{path}\" must start with \"/\" and hold no spaces and no control characters")]
    Path { path: String },
    #[error("the header \"{name}\" cannot be given: it is made from the request itself")]
    ReservedHeader { name: String },
    #[error("the header \"{name}\" is no valid header name or has a line break in its value")]
    Header { name: String },
    #[error("a response has \"{first}\" or \"{second}\", not both")]
    TwoBodies { first: &'static str, second: &'static str },
    #[error("a response to HEAD has no body: remove \"body\", \"json\", \"matches\" and \"length\"")]
    HeadWithBody,
    #[error(
        "the header \"{name}\" needs one of \"present = true\", \"absent = true\" and \"matches = '...'\", and only one"
    )]
    HeaderRule { name: String },
    #[error(transparent)]
    Pattern(#[from] TextPatternError),
    #[error(
        "a pattern takes no placeholders such as {{{{{placeholder}}}}}: give the answer as \"body\" or \"json\""
    )]
    PlaceholderInPattern { placeholder: String },
    #[error("\"length\" has neither \"min\" nor \"max\"")]
    LengthOfNothing,
    #[error("no length is at least {min} and at most {max}: \"min\" must not be above \"max\"")]
    LengthRange { min: u64, max: u64 },
    #[error("this is no JSON once its placeholders are filled: {reason}")]
    Json { reason: String },
    #[error("a wildcard such as {{{{any:int}}}} must be a whole value in quotes: \"{{{{any:int}}}}\"")]
    WildcardInText,
    #[error("a request has \"body\" or \"multipart\", not both")]
    BodyBesideParts,
    #[error("\"multipart\" has no parts: {{ name = '...', content = '...' }} is one")]
    PartsOfNothing,
    #[error("the header \"{name}\" is made from \"multipart\": remove it")]
    TypeOfParts { name: String },
    #[error("{text:?} stands in quotes in the head of a part: it can have no quotes and no line breaks")]
    PartHead { text: String },
    #[error("a part holds the boundary between parts: change its content")]
    BoundaryInPart,
    #[error("\"chunked\" is about the body of the request, which is not given")]
    ChunksOfNothing,
    #[error("{what} needs format = \"{needed}\" in the first line")]
    Newer { what: &'static str, needed: &'static str },
    #[error("\"extra\" is about the members of \"json\", which is not given")]
    ExtraWithoutJson,
    #[error("the status {status} is not one of 200 to 599")]
    Status { status: u16 },
    #[error("the name \"{name}\" is there twice")]
    Twice { name: String },
    #[error("a weight of 0 never comes: say \"load = false\"")]
    WeightOfNothing,
    #[error(transparent)]
    JsonPath(#[from] JsonPathError),
    #[error("the captured value \"{name}\" needs a name of a-z, 0-9, \"_\" and \"-\"")]
    CaptureName { name: String },
    #[error(
        "\"{name}\" needs one of json = '$.a.b', header = \"NAME\" (with or without matches = '...') and body = '...'"
    )]
    CaptureSource { name: String },
    #[error(
        "no step can use the captured value \"{name}\": name its request and a later one in the steps of a [[sequence]]"
    )]
    CaptureForNobody { name: String },
    #[error(
        "the request \"{request}\" uses {{{{captured.{name}}}}}: name it in the steps of a [[sequence]], after the request that captures it"
    )]
    CapturedOutsideOfSequence { request: String, name: String },
    #[error(
        "the step \"{step}\" uses {{{{captured.{name}}}}}, which no step before it captures: capture it before"
    )]
    NotYetCaptured { step: String, name: String },
    #[error("a sequence has steps, which are names of requests: steps = [\"login\", \"profile\"]")]
    SequenceOfNothing,
    #[error("unknown request \"{name}\" in the steps{suggestion}")]
    UnknownStep { name: String, suggestion: String },
    #[error(
        "the request \"{name}\" is a step and comes as often as its sequence: give the weight to the [[sequence]]"
    )]
    WeightOfStep { name: String },
    #[error("the request \"{name}\" is a step: say \"load = false\" in the [[sequence]]")]
    StepOutOfLoad { name: String },
    #[error("unknown table \"{name}\"{suggestion}")]
    UnknownTable { name: String, suggestion: String },
    #[error("the table \"{name}\" needs \"key\": the column that tells its rows apart")]
    TableWithoutKey { name: String },
    #[error(
        "the table \"{name}\" needs \"json\": an object whose members are its columns, such as '{{\"id\": {{{{{name}.id}}}}}}'"
    )]
    RowIsNoObject { name: String },
    #[error(
        "\"any-row\" has a count of at least 1, or none for one row, and at most one column in \"changed\""
    )]
    AnyRowCount,
    #[error("the rows \"{name}\" need \"text\", or a table with \"json\": how each of them is written")]
    RowsWithoutText { name: String },
    #[error("{{{{rows.{name}}}}} is not known: say which rows they are in [request.response.rows.{name}]")]
    UnknownRows { name: String },
    #[error("a page has at least one row")]
    PageOfNothing,
    #[error("a further row needs all of the columns and no other: {columns}")]
    RowOfOtherColumns { columns: String },
    #[error("unknown encoding \"{name}\"{suggestion}")]
    UnknownEncoding { name: String, suggestion: String },
    #[error(
        "\"encoding\" names at least one, such as [\"gzip\"], of an answer with \"body\", \"json\" or \"html\""
    )]
    EncodingOfNothing,
    #[error(
        "the file \"{name}\" of a folder needs a name of A-Z, a-z, 0-9, \".\", \"-\" and \"_\", and 1 to {bytes_max} bytes"
    )]
    FileOfFolder { name: String, bytes_max: u32 },
    #[error(
        "\"otherwise\" has its place in requests that are verified alone: say \"load = false\", or loads could not be compared"
    )]
    OtherwiseInLoad,
    #[error("\"exchanges\" is at least 1")]
    NoExchanges,
    #[error("the contract has no [[request]] for the load: at least one must not say \"load = false\"")]
    NothingToLoad,
}
