// The contracts of Tare on Kitura: its router and its JSON, with SwiftNIO below it.

import Dispatch
import Foundation
import Kitura
import NIOPosix

/// How long requests in flight may take to end after SIGTERM.
let grace: TimeInterval = 0.25

func fail(_ status: Int32, _ message: String) -> Never {
  FileHandle.standardError.write(Data("\(message)\n".utf8))
  exit(status)
}

/// Calls `stop` where the signal would end the program.
func onSigterm(_ stop: @escaping () -> Void) -> DispatchSourceSignal {
  signal(SIGTERM, SIG_IGN)
  let source = DispatchSource.makeSignalSource(signal: SIGTERM)
  source.setEventHandler(handler: stop)
  source.resume()
  return source
}

if CommandLine.arguments.dropFirst() == ["--version"] {
  do {
    print(try kituraVersion())
  } catch {
    fail(1, "no version of Kitura: \(error)")
  }
  exit(0)
}

let settings: Settings
do {
  settings = try Settings(environment: ProcessInfo.processInfo.environment)
} catch {
  fail(2, "\(error)")
}

let server = Kitura.addHTTPServer(
  onPort: settings.port,
  onAddress: settings.serveOn,
  with: routes(settings),
  // Kitura counts requests as connections, and would answer 503 after 10,000 of them.
  options: ServerOptions(connectionLimit: nil))
try server.setEventLoopGroup(MultiThreadedEventLoopGroup(numberOfThreads: settings.threads))
server.failed { error in
  fail(1, "cannot serve on \(settings.serveOn):\(settings.port): \(error)")
}

let termination = onSigterm { Kitura.stop() }
Kitura.run()
Thread.sleep(forTimeInterval: grace)
exit(0)
