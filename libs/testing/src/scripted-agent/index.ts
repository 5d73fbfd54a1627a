import { fileURLToPath } from 'node:url';

export type { ScriptInput, ScriptModule, StepInput, Turn } from './steps.ts';

/** The program of the scripted agent; its argument is a script. */
export const SCRIPTED_AGENT = fileURLToPath(new URL('./main.ts', import.meta.url));

/** A script of attacks, see there. */
export const HOSTILE_SCRIPT = fileURLToPath(new URL('./hostile.ts', import.meta.url));

/** Returns the command that performs a script, a JSON file or a module, for `--agent`. */
export const scriptedAgentCommand = (script: string): string =>
  [process.execPath, '--disable-warning=ExperimentalWarning', SCRIPTED_AGENT, script]
    .map((word) => `"${word}"`)
    .join(' ');
