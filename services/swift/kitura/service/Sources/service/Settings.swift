/// What the environment variables PORT, THREADS and DELAY_MS say.
struct Settings {
  let port: Int
  let threads: Int
  let delayMs: Int

  init(environment: [String: String]) throws {
    func integer(_ name: String, _ range: ClosedRange<Int>, fallback: String = "") throws -> Int {
      guard let value = Int(environment[name] ?? fallback), range.contains(value) else {
        throw SettingError(name: name, range: range)
      }
      return value
    }
    port = try integer("PORT", 1...65535)
    threads = try integer("THREADS", 1...1024, fallback: "1")
    delayMs = try integer("DELAY_MS", 0...60000, fallback: "0")
  }
}

struct SettingError: Error, CustomStringConvertible {
  let name: String
  let range: ClosedRange<Int>

  var description: String {
    "\(name) must be an integer from \(range.lowerBound) to \(range.upperBound)"
  }
}
