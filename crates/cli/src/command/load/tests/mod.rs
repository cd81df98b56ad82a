//! Tests of the command line, by table and golden text.

mod command;
mod expect;
mod plan;
mod request;
mod words;
