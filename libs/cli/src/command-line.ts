import { Writable } from 'node:stream';
import { CommanderError } from 'commander';
import { EXIT } from './command/exit-codes.ts';
import type { Streams } from './command/streams.ts';
import { pipelineProgram } from './program.ts';

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Runs the command given by the arguments. @returns the exit code.
 * @param args without the names of Node and of the program.
 */
export async function commandLine(args: readonly string[], env: Env, streams: Streams): Promise<number> {
  let code: number = EXIT.ok;
  const forPrograms = args.includes('--json');
  // Store modules are loaded lazily, so that help and usage errors are fast.
  const program = pipelineProgram(
    {
      run: async (flags, action) => {
        const { run } = await import('./run.ts');
        code = await run({ flags, action, env, streams });
      },
      runLocal: async (flags, action) => {
        const { runLocal } = await import('./run-local.ts');
        code = await runLocal({ flags, action, env, streams });
      },
    },
    forPrograms ? { ...streams, stderr: NOWHERE } : streams,
  );
  try {
    await program.parseAsync(args, { from: 'user' });
    return code;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return EXIT.ok;
    if (forPrograms) streams.stderr.write(usageJson(error));
    return EXIT.usage;
  }
}

/** Text output of commander. */
const NOWHERE = new Writable({ write: (_chunk, _encoding, done) => done() });

function usageJson({ code, message }: CommanderError): string {
  const text = code === 'commander.help' ? 'a command is missing; --help shows them' : message.replace(/^error: /, '');
  return `${JSON.stringify({ error: { code: 'USAGE', message: text } })}\n`;
}
