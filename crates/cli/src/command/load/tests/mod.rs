//! Tests of the command line, by table and golden text.

mod command;
mod expect;
mod plan;
mod protocol;
mod request;
mod words;
