#!/usr/bin/env node
// Runs the program of this platform, which is in a package of its own: npm installs the one whose `os` and `cpu` are those of
// the machine. Nothing runs at install, so `--ignore-scripts` changes nothing.
'use strict';

const { spawn } = require('child_process');

const platform = `${process.platform}-${process.arch}`;
const packageName = `tare-http-${platform}`;
const words = process.argv.slice(2);

let program;
try {
  program = require.resolve(`${packageName}/bin/tare`);
} catch {
  console.error(`tare: there is no ${packageName} here: tare-http is for Linux on x64 and arm64, and is installed with its optional dependencies`);
  process.exit(1);
}

if (process.execve) {
  // In place of Node, which would otherwise stay beside a measurement (Node 22.15 and newer).
  process.execve(program, [program, ...words], process.env);
}
const child = spawn(program, words, { stdio: 'inherit' });
// A terminal sends these to the program as well, for which a second one has another meaning.
for (const signal of ['SIGINT', 'SIGQUIT', 'SIGHUP']) process.on(signal, () => {});
process.on('SIGTERM', () => child.kill('SIGTERM'));
child.on('error', (error) => {
  console.error(`tare: ${error.message}`);
  process.exit(1);
});
child.on('exit', (code, signal) => {
  if (signal === null) process.exit(code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
