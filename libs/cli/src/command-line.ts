import { CommanderError } from 'commander';
import { EXIT } from './exit-codes.ts';
import { pipelineProgram } from './program.ts';
import type { Streams } from './streams.ts';

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Carries out what the arguments ask for. @returns the exit code.
 * @param args without the names of Node and of the program.
 */
export async function commandLine(args: readonly string[], env: Env, streams: Streams): Promise<number> {
  let code: number = EXIT.ok;
  const program = pipelineProgram(async (flags, deed) => {
    // What talks to the store is loaded only when it is needed: help and wrong usage answer at once.
    const { run } = await import('./run.ts');
    code = await run({ flags, deed, env, streams });
  }, streams);
  try {
    await program.parseAsync(args, { from: 'user' });
    return code;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  }
}
