#!/usr/bin/env node
import { withSecretFiles } from '@pipeline/runtime/secret-files';
import { commandLine } from './command-line.ts';

void commandLine(process.argv.slice(2), withSecretFiles(process.env), process).then((code) => {
  process.exitCode = code;
});
