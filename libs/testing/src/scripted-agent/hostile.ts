/** A script of attacks on the worker and the service. Each prints `[[box|name|tried]]`, and `[[box|name|EFFECT]]` if it
 * sees an effect of its own. */
import type { StepInput, Turn } from './steps.ts';

interface Attack {
  name: string;
  /** Shell command that succeeds if the attack has an effect. */
  command: string;
  env?: Record<string, string>;
  /** True = only a confined program is kept from it. */
  needsConfinement: boolean;
}

const { MODEL_KEY = '', HOSTILE_PORT = '', OPERATOR_HOME = '', BOX = '' } = process.env;

/** Prints the marker of an effect, without containing it. */
const marked = (name: string) => `printf '[%s]]' '[${BOX}|${name}|EFFECT'`;

const ATTACKS: readonly Attack[] = [
  { name: 'variable for the confiner', command: 'true', env: { LD_PRELOAD: './x.so' }, needsConfinement: false },
  {
    name: 'SIGUSR1 to the agent and the worker',
    command: `for pid in $(pgrep -f '[s]cripted-agent/main|libs/[a]gent/src/main'); do kill -USR1 $pid && exit 0; done; exit 1`,
    needsConfinement: false,
  },
  {
    name: 'key in the environment of a process',
    command: `grep -lsaE '(WORKER_TOKEN|GIT_TOKEN|MODEL_KEY)=' $(ls -d /proc/*/environ | grep -v self) | grep -q .`,
    needsConfinement: true,
  },
  { name: 'remount of /usr', command: 'mount -o remount,rw /usr', needsConfinement: true },
  { name: 'read of /etc/shadow', command: 'cat /etc/shadow', needsConfinement: true },
  { name: 'read of the home of the operator', command: `cat '${OPERATOR_HOME}/secret'`, needsConfinement: true },
  {
    name: 'connection to a service on loopback',
    command: `bash -c 'exec 3<>/dev/tcp/127.0.0.1/${HOSTILE_PORT}'`,
    needsConfinement: true,
  },
];

const UP = 'while ! [ -e .git/up ]; do :; done';
const leave = (script: string) => `(setsid setsid sh -c '${script}' > /dev/null 2>&1 &)`;
/** Exchanges a folder for a link while git, which waits for the pipe, reads it; and goes on to write afterwards. */
const EXCHANGE = `touch .git/up; exec 3> swapped/.gitignore; mv swapped gone; ln -s ${OPERATOR_HOME} swapped`;
const SURVIVE = 'touch .git/up; while :; do echo evil > evil.txt; done';

const RUNS = ATTACKS.filter(({ needsConfinement }) => BOX !== 'none' || !needsConfinement).flatMap(
  ({ name, command, env }): StepInput[] => [
    { say: `[[${BOX}|${name}|tried]]\n` },
    { run: { command: `(${command}) > /dev/null 2>&1 && ${marked(name)} || :`, ...(env && { env }) } },
  ],
);

function develop({ number, task }: Turn): StepInput[] {
  const { issueNumber } = task as { issueNumber: number };
  const path = `hostile-${issueNumber}.txt`;
  const result = { title: `Add ${MODEL_KEY}`, body: Buffer.from(MODEL_KEY).toString('base64'), branch: 'svc/issue-1' };
  const verdict = { verdict: { outcome: 'submitted', result } };
  if (number > 0) return [{ edit: { path, text: 'fine\n' } }, verdict];
  return [
    ...RUNS,
    { run: { command: `mkdir -p swapped; echo x > swapped/secret; mkfifo pipe swapped/.gitignore; rm -f .git/up` } },
    {
      run: {
        command: `${leave(EXCHANGE)}; ${UP}; rm .git/up; ${leave(SURVIVE.replace('evil.txt', `"$PWD/evil-${issueNumber}.txt"`))}; ${UP}`,
      },
    },
    { edit: { path, text: `${MODEL_KEY}\n` } },
    { say: `[[${BOX}|last|tried]]\n` },
    verdict,
  ];
}

/** Returns the steps of a turn: attacks in development, and no more than needed to get there. */
export default function hostile(turn: Turn): StepInput[] {
  const { taskType } = turn.task as { taskType: string };
  const end = (outcome: string, result: object) => ({ verdict: { outcome, result } });
  if (taskType === 'develop') return develop(turn);
  if (taskType === 'analyze')
    return [{ usage: { inputTokens: 10, outputTokens: 1, costUsd: 1e6 } }, end('analyzed', {})];
  return [end('planned', { plan: 'Add a file.', plannedFiles: ['hostile.txt'] })];
}
