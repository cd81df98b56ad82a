import Foundation

/// What the Swift package manager wrote beside the build about the packages that it was made of.
private struct WorkspaceState: Decodable {
  let object: Object

  struct Object: Decodable { let dependencies: [Dependency] }
  struct Dependency: Decodable {
    let packageRef: PackageRef
    let state: State
  }
  struct PackageRef: Decodable { let identity: String }
  struct State: Decodable { let checkoutState: CheckoutState? }
  struct CheckoutState: Decodable { let version: String? }
}

struct NoVersion: Error, CustomStringConvertible {
  let description: String
}

/// The version of Kitura that this program was built with. Kitura itself does not tell it.
func kituraVersion() throws -> String {
  guard let program = Bundle.main.executableURL else {
    throw NoVersion(description: "the program does not know where it is")
  }
  // build/TRIPLE/release/service: the state is in build.
  var folder = program.resolvingSymlinksInPath()
  for _ in 1...3 { folder.deleteLastPathComponent() }
  let data = try Data(contentsOf: folder.appendingPathComponent("workspace-state.json"))
  let state = try JSONDecoder().decode(WorkspaceState.self, from: data)
  let kitura = state.object.dependencies.first { $0.packageRef.identity == "kitura" }
  guard let version = kitura?.state.checkoutState?.version else {
    throw NoVersion(description: "the build was made of no release of it")
  }
  return version
}
