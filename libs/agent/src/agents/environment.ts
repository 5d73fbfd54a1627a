import { envOf, type RunAs } from '@pipeline/worker';
import type { AgentPreset } from './presets.ts';

/** Variables of the machine that programs of a task get. All others may contain secrets, or name folders of the operator. */
const PASSED =
  /^(PATH|USER|LOGNAME|SHELL|TERM|TZ|LANG|LANGUAGE|LC_\w+|NODE_EXTRA_CA_CERTS|NODE_USE_ENV_PROXY|SSL_CERT_(FILE|DIR)|(http|https|no|all)_proxy|(HTTP|HTTPS|NO|ALL)_PROXY)$/;

/**
 * Returns the environment of programs that the agent or the setup command runs: no key, no token, and the home folder of
 * the task.
 */
export function toolEnv(parent: Readonly<Record<string, string>>, task: TaskUser): Record<string, string> {
  const kept = Object.entries(parent).filter(([name]) => PASSED.test(name));
  return { ...Object.fromEntries(kept), ...envOf(task.user), HOME: task.home };
}

/** User and home folder of a task. */
export interface TaskUser {
  /** null = the user of this process. */
  user: RunAs | null;
  home: string;
}

/**
 * Returns the environment of an agent: that of its tools with its keys and its variables.
 * @param more names of further variables.
 */
export function agentEnv(
  parent: Readonly<Record<string, string>>,
  agent: AgentPreset,
  { task, more }: { task: TaskUser; more: readonly string[] },
): Record<string, string> {
  const names = [...agent.keys, ...agent.variables, ...more];
  const own = names.flatMap((name) => (parent[name] === undefined ? [] : [[name, parent[name]] as const]));
  return { ...toolEnv(parent, task), ...Object.fromEntries(own) };
}
