import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { DEMO_SCRIPT } from '../demo/index.ts';
import { type ChildSpec, leashUrl, messageIs } from '../supervision/child-spec.ts';
import { type ChildContext, ROOT, urlOf } from './context.ts';

/** A worker of the demo fleet: pipeline-agent with the scripted agent. */
export function demoWorker({ dataDir, state, ports, inherited }: ChildContext, number: number): ChildSpec {
  const name = `demo-worker-${number}`;
  const options = {
    server: urlOf(ports, 'hosted'),
    agent: agentCommand(),
    'agent-name': 'scripted',
    name,
    'work-dir': join(dataDir, 'work', name),
    'kill-grace': '1s',
    env: 'NODE_COMPILE_CACHE',
    sandbox: canConfine() ? 'bubblewrap' : 'none',
  };
  const readable = READABLE.flatMap((folder) => ['--sandbox-read', join(ROOT, folder)]);
  const argv = [...Object.entries(options).flatMap(([key, value]) => [`--${key}`, value]), ...readable];
  return {
    name,
    argv: [join(ROOT, 'libs/agent/src/main.ts'), ...argv, '--no-check'],
    env: { ...inherited, WORKER_TOKEN: state.workerToken, GIT_TOKEN: state.sandbox.agent.token },
    readyFrom: messageIs('registered'),
    logsItself: false,
    // Finish what runs; give it back.
    stopSteps: [1_500, 2_000],
  };
}

/**
 * Returns whether bubblewrap can start here. Without it the scripted agent is not confined, which is safe: it runs no model and
 * no command that a text names.
 */
const canConfine = (): boolean =>
  spawnSync('bwrap', ['--unshare-user', '--unshare-pid', '--ro-bind', '/', '/', 'true']).status === 0;

/** Folders of this project that the scripted agent reads. */
const READABLE = ['libs', 'node_modules'];

/**
 * `$PPID` is the worker: the agent does not outlive it, or it would work beside its successor's. In a namespace of processes
 * it is the first process there, which ends with the worker.
 */
function agentCommand(): string {
  const leash = `'${quoted(leashUrl('', 'group'))}'$PPID`;
  const program = `'${quoted(join(ROOT, SCRIPTED_AGENT))}' '${quoted(DEMO_SCRIPT)}'`;
  return `/bin/sh -c "exec '${quoted(process.execPath)}' --disable-warning=ExperimentalWarning --import ${leash} ${program}"`;
}

const SCRIPTED_AGENT = 'libs/testing/src/scripted-agent/main.ts';

const quoted = (word: string) => word.replaceAll("'", `'\\''`);

/** The simulation of people: they open the demo issues, answer questions, lift blocks and review. */
export function demoPeople(
  { state, ports, inherited }: ChildContext,
  { slug, source, issues }: { slug: string; source: string; issues: number },
): ChildSpec {
  return {
    name: 'demo-people',
    argv: [join(ROOT, 'libs/stack/src/simulation/main.ts')],
    env: {
      ...inherited,
      SANDBOX_URL: urlOf(ports, 'sandbox'),
      PERSON_TOKEN: state.sandbox.person.token,
      DEMO_REPO: slug,
      DEMO_SOURCE: source,
      DEMO_ISSUES: `${issues}`,
    },
    readyFrom: messageIs('people are here'),
    logsItself: false,
    stopSteps: [1_500],
  };
}
