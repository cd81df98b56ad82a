import Foundation

/// What the environment variables PORT, SERVE_ON, THREADS and DELAY_MS say.
struct Settings {
  let port: Int
  let serveOn: String
  let threads: Int
  let delayMs: Int

  init(environment: [String: String]) throws {
    func integer(_ name: String, _ range: ClosedRange<Int>, fallback: String = "") throws -> Int {
      guard let value = Int(environment[name] ?? fallback), range.contains(value) else {
        throw SettingError(
          description: "\(name) must be an integer from \(range.lowerBound) to \(range.upperBound)")
      }
      return value
    }
    func address(_ name: String, fallback: String) throws -> String {
      guard let value = environment[name], !value.isEmpty else { return fallback }
      var bytes = in_addr()
      guard inet_pton(AF_INET, value, &bytes) == 1 else {
        throw SettingError(
          description: "\(name) must be an IPv4 address, such as 0.0.0.0, not \"\(value)\"")
      }
      return value
    }
    port = try integer("PORT", 1...65535)
    serveOn = try address("SERVE_ON", fallback: "127.0.0.1")
    threads = try integer("THREADS", 1...1024, fallback: "1")
    delayMs = try integer("DELAY_MS", 0...60000, fallback: "0")
  }
}

struct SettingError: Error, CustomStringConvertible {
  let description: String
}
