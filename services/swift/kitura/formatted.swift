// Compiles where Kitura 3.0 does: both match on this case, and Foundation for Linux has no such case since Swift 6.
import Foundation

if case .formatted = JSONDecoder().dateDecodingStrategy {}
