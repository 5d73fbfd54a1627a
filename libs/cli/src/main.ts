#!/usr/bin/env node
import { commandLine } from './command-line.ts';

void commandLine(process.argv.slice(2), process.env, process).then((code) => {
  process.exitCode = code;
});
