// swift-tools-version:5.9

import PackageDescription

let package = Package(
  name: "service",
  dependencies: [
    .package(url: "https://github.com/Kitura/Kitura.git", from: "3.0.1"),
    .package(url: "https://github.com/apple/swift-nio.git", from: "2.33.0"),
  ],
  targets: [
    .executableTarget(
      name: "service",
      dependencies: [
        .product(name: "Kitura", package: "Kitura"),
        .product(name: "NIOPosix", package: "swift-nio"),
      ])
  ]
)
