//! Whether a process waits for input from a user or another program, as far as the kernel shows it.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::procfs;

/// The source of input that a process waits for in vain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input {
    Stdin,
    Terminal,
}

/// The input that this process waits for; absent if it waits for none, or if that cannot be seen.
pub(super) fn awaited_by(pid: u32) -> Option<Input> {
    let folder = PathBuf::from(format!("/proc/{pid}"));
    let threads = procfs::threads(pid).into_iter().map(|thread| folder.join(format!("task/{thread}")));
    let read = threads.filter_map(|thread| read_by(&thread));
    let of_number = |number: u64| {
        let link = fs::read_link(folder.join(format!("fd/{number}"))).ok()?;
        input(number, &link)
    };
    read.chain(watched_by(&folder)).find_map(of_number)
}

/// The input that a read of this file waits for; absent if the file is no input or does not block.
fn input(number: u64, link: &Path) -> Option<Input> {
    let name = link.to_string_lossy();
    let is_terminal = ["/dev/pts/", "/dev/tty", "/dev/console"].iter().any(|tty| name.starts_with(tty));
    match number {
        _ if is_terminal => Some(Input::Terminal),
        0 if name != "/dev/null" => Some(Input::Stdin),
        _ => None,
    }
}

/// The descriptor that a thread is blocked in reading; `thread` is its folder. If the kernel hides the system
/// call, the kernel function in which the thread sleeps shows a read of a pipe or a terminal.
fn read_by(thread: &Path) -> Option<u64> {
    let text = |name: &str| fs::read_to_string(thread.join(name)).unwrap_or_default();
    match text("syscall").as_str() {
        "" => sleeps_in_read(&text("wchan")).then_some(0),
        call => read_in(call),
    }
}

fn sleeps_in_read(function: &str) -> bool {
    ["pipe_read", "tty_read"].iter().any(|end| function.trim_end().ends_with(end))
}

/// The descriptor read by the system call in `/proc/PID/syscall`: the call's number and its arguments.
fn read_in(call: &str) -> Option<u64> {
    let mut fields = call.split_ascii_whitespace();
    let number: libc::c_long = fields.next()?.parse().ok()?;
    let first = u64::from_str_radix(fields.next()?.strip_prefix("0x")?, 16).ok()?;
    match number {
        libc::SYS_read | libc::SYS_readv => Some(first),
        // Below 1 there is only descriptor 0.
        libc::SYS_pselect6 if first == 1 => Some(0),
        _ => None,
    }
}

/// Stdin, if an event loop of the process waits until it can be read.
fn watched_by(process: &Path) -> Option<u64> {
    let open = fs::read_dir(process.join("fd")).ok()?.flatten();
    let mut loops = open.filter(|file| {
        fs::read_link(file.path()).is_ok_and(|link| link == Path::new("anon_inode:[eventpoll]"))
    });
    let watches = |file: &fs::DirEntry| {
        let info = fs::read_to_string(process.join("fdinfo").join(file.file_name())).unwrap_or_default();
        watches_stdin(&info)
    };
    loops.any(|file| watches(&file)).then_some(0)
}

/// Looks for stdin in a `/proc/PID/fdinfo/NUMBER`, which has a line for each watched file.
fn watches_stdin(info: &str) -> bool {
    /// EPOLLIN of the kernel.
    const READABLE: u32 = 1;
    info.lines().any(|line| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        match fields[..] {
            ["tfd:", "0", "events:", events, ..] => {
                u32::from_str_radix(events, 16).is_ok_and(|events| events & READABLE != 0)
            }
            _ => false,
        }
    })
}

#[cfg(test)]
mod tests {
    use std::{
        process::{Child, Command, Stdio},
        time::{Duration, Instant},
    };

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_read_is_told_from_other_calls_by_its_number() {
        let call = |number: libc::c_long, first: &str| {
            read_in(&format!("{number} {first} 0x7f 0x1 0x0 0x0 0x0 0x7f 0x7f"))
        };
        assert_eq!((call(libc::SYS_read, "0x0"), call(libc::SYS_readv, "0x1f")), (Some(0), Some(31)));
        assert_eq!((call(libc::SYS_pselect6, "0x1"), call(libc::SYS_pselect6, "0x5")), (Some(0), None));
        assert_eq!(
            (call(libc::SYS_futex, "0x0"), read_in("running"), read_in("-1 0x0 0x0")),
            (None, None, None)
        );
    }

    #[test]
    fn stdin_and_terminals_are_input_and_nothing_else_is() {
        let of = |number, link: &str| input(number, Path::new(link));
        assert_eq!((of(0, "pipe:[7]"), of(0, "/tmp/fifo")), (Some(Input::Stdin), Some(Input::Stdin)));
        assert_eq!((of(0, "/dev/pts/3"), of(5, "/dev/tty")), (Some(Input::Terminal), Some(Input::Terminal)));
        assert_eq!(of(0, "/dev/ttyS0"), Some(Input::Terminal));
        assert_eq!((of(0, "/dev/null"), of(5, "pipe:[7]")), (None, None), "its end, and another pipe");
    }

    #[test]
    fn an_event_loop_watches_stdin_if_it_wants_to_read_it() {
        let info =
            |events: &str| format!("pos:\t0\nflags:\t02\ntfd:        0 events: {events} data: 0 pos:0\n");
        assert!(watches_stdin(&info("      19")) && !watches_stdin(&info("      1c")));
        assert!(!watches_stdin("tfd:       10 events:       19 data: a\n"));
    }

    #[test]
    fn the_function_that_a_thread_sleeps_in_tells_of_a_read() {
        assert!(["pipe_read", "anon_pipe_read", "n_tty_read\n"].into_iter().all(sleeps_in_read));
        assert!(!["0", "", "ep_poll", "pipe_write"].into_iter().any(sleeps_in_read));
    }

    fn soon(child: &mut Child, expected: Option<Input>) {
        let end = Instant::now() + Duration::from_secs(10);
        while awaited_by(child.id()) != expected && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(1));
        }
        let found = awaited_by(child.id());
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_process_that_reads_its_stdin_waits_for_it() {
        soon(
            &mut Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap(),
            Some(Input::Stdin),
        );
        let mut sleeps = Command::new("sleep");
        soon(&mut sleeps.arg("60").stdin(Stdio::piped()).spawn().unwrap(), None);
        assert_eq!(awaited_by(u32::MAX), None);
    }

    proptest! {
        #[test]
        fn no_file_of_the_kernel_is_too_much(text in "(-?[0-9]{1,20}|0x[0-9a-f]{1,17}|tfd:|events:| |\n|é){0,40}") {
            let _any = (read_in(&text), watches_stdin(&text), sleeps_in_read(&text));
        }
    }
}
