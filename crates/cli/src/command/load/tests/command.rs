//! The command line that repeats a load.

use super::super::command;

#[test]
fn the_command_can_be_repeated() {
    let words = ["/usr/bin/tare", "load", "-H", "A: it's", "http://a/?b=c&d", "-c", "5"];
    let told = command(words.into_iter().map(str::to_owned), Some(7));
    assert_eq!(told, r"tare load -H 'A: it'\''s' 'http://a/?b=c&d' -c 5 --seed 7");
    assert_eq!(command(["tare".to_owned(), String::new()].into_iter(), None), "tare ''");
}
