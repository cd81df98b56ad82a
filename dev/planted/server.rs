//! A server that costs some percent more with PLANT=loop, allocate, lock, call or log, TIMES times in each request.
use std::{
    env,
    fs::{self, File},
    hint::black_box,
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    sync::Mutex,
    thread,
};

static COUNT: Mutex<u64> = Mutex::new(0);

#[inline(never)]
fn planted_loop(request: &[u8], times: usize) {
    let mut sum = 2_166_136_261_u32;
    for place in 0..times {
        sum = (sum ^ u32::from(request[place % 16])).wrapping_mul(16_777_619);
    }
    black_box(sum);
}

#[inline(never)]
fn planted_allocate(request: &[u8], times: usize) {
    let copies: Vec<Vec<u8>> = (0..times).map(|_| request.to_vec()).collect();
    black_box(copies);
}

#[inline(never)]
fn planted_lock(times: usize) {
    for _ in 0..times {
        *COUNT.lock().unwrap() += 1;
    }
}

#[inline(never)]
fn planted_call(times: usize) {
    for _ in 0..times {
        let _found = black_box(fs::metadata("/etc/hostname"));
    }
}

#[inline(never)]
fn planted_log(log: &mut File, request: &[u8], times: usize) {
    for place in 0..times {
        writeln!(log, "{place} {:?} {}", &request[..4], request.len()).unwrap();
    }
}

fn body() -> String {
    let tags: Vec<String> = (0..20).map(|tag| format!("\"tag {tag}\"")).collect();
    format!("{{\"id\":1,\"tags\":[{}]}}", tags.join(","))
}

fn serve(mut stream: TcpStream) {
    let plant = env::var("PLANT").unwrap_or_default();
    let times = env::var("TIMES").ok().and_then(|times| times.parse().ok()).unwrap_or(0);
    let mut log = File::options().write(true).open("/dev/null").unwrap();
    let mut buffer = [0; 4096];
    while let Ok(length @ 1..) = stream.read(&mut buffer) {
        let request = &buffer[..length];
        for _ in 0..request.windows(4).filter(|end| end == b"\r\n\r\n").count() {
            match plant.as_str() {
                "loop" => planted_loop(request, times),
                "allocate" => planted_allocate(request, times),
                "lock" => planted_lock(times),
                "call" => planted_call(times),
                "log" => planted_log(&mut log, request, times),
                _ => {}
            }
            let (body, head) = (body(), "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length");
            if stream.write_all(format!("{head}: {}\r\n\r\n{body}", body.len()).as_bytes()).is_err() {
                return;
            }
        }
    }
}

fn main() {
    let port = env::var("PORT").unwrap().parse().unwrap();
    for stream in TcpListener::bind(("127.0.0.1", port)).unwrap().incoming() {
        let stream = stream.unwrap();
        stream.set_nodelay(true).unwrap();
        thread::spawn(move || serve(stream));
    }
}
