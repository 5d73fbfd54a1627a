#!/usr/bin/env node
import { CommanderError } from 'commander';
import { EXIT } from './exit-codes.ts';
import { pipelineProgram } from './program.ts';

/** A function, not top-level awaits: the bundle is CommonJS, which knows none. */
async function main(): Promise<void> {
  const program = pipelineProgram(async (flags, deed) => {
    // What talks to the store is loaded only when it is needed: help and wrong usage answer at once.
    const { run } = await import('./run.ts');
    process.exitCode = await run({ flags, deed, env: process.env });
  });
  try {
    await program.parseAsync();
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    process.exitCode = error.exitCode === 0 ? 0 : EXIT.usage;
  }
}

void main();
