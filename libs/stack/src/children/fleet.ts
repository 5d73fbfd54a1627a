import { join } from 'node:path';
import { DEMO_AGENT_PATH, DEMO_TASK_TYPES } from '../demo/index.ts';
import { type ChildSpec, leashUrl, messageIs } from '../supervision/child-spec.ts';
import { type ChildContext, ROOT, urlOf } from './context.ts';

/** A worker of the demo fleet: the runner, with the scripted agent as its program. */
export function demoWorker({ dataDir, state, ports, inherited }: ChildContext, number: number): ChildSpec {
  const name = `demo-worker-${number}`;
  const options = {
    server: urlOf(ports, 'hosted'),
    tasks: DEMO_TASK_TYPES.join(','),
    name,
    'work-dir': join(dataDir, 'work', name),
    'log-dir': join(dataDir, 'logs'),
    exec: agentCommand(),
  };
  const argv = Object.entries(options).flatMap(([key, value]) => [`--${key}`, value]);
  return {
    name,
    argv: [join(ROOT, 'libs/worker/src/main.ts'), ...argv],
    env: { ...inherited, WORKER_TOKEN: state.workerToken, DEMO_GIT_TOKEN: state.sandbox.agent.token },
    readyFrom: messageIs('registered'),
    logsItself: false,
    // Finish what runs; give it back.
    stopSteps: [1_500, 2_000],
  };
}

/** `$PPID` is the runner: the agent and its git do not outlive it, or they would work beside its successor's. */
function agentCommand(): string {
  const leash = `'${quoted(leashUrl('', 'group'))}'"$PPID"`;
  return `exec '${quoted(process.execPath)}' --disable-warning=ExperimentalWarning --import ${leash} '${quoted(DEMO_AGENT_PATH)}'`;
}

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
