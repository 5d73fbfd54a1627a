import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { HOSTILE_SCRIPT, scriptedAgentCommand } from '@pipeline/testing/scripted-agent';
import { ROOT } from '../src/children/context.ts';
import type { StackReport } from '../src/start/report.ts';
import { withClone } from './host-clone.ts';
import { hostileReports } from './hostile-reports.ts';
import type { E2e } from './journey.ts';
import { poll } from './poll.ts';
import { clearUp, StackProcess } from './stack-process.ts';
import { StoreView } from './store-view.ts';

const KEY = 'key/of-the-model+0123456789';
const WITHIN_MS = 150_000;
/** Emulated machines take seconds for each program. */
const IN_MACHINES_WITHIN_MS = 1_200_000;
type Box = 'bubblewrap' | 'none' | 'vm';
/** The variable, with kvm or tcg, adds virtual machines of that kind, whose image must be in its default folder. */
const VM = 'HOSTILE_VM';

interface Scene {
  e2e: E2e;
  report: StackReport;
  store: StoreView;
  gitToken: string;
}

/**
 * A worker with a hostile agent develops two issues in each box of the machine, then a worker reports about the objects of
 * others. Prints the effect of each attack.
 */
export async function hostileAgent(e2e: E2e): Promise<void> {
  const stack = new StackProcess(e2e, ['--json', '--no-demo']);
  try {
    const { report } = await stack.ready();
    const { sandbox } = await stack.state();
    const scene = { e2e, report, store: new StoreView(report.database.url), gitToken: sandbox.agent.token };
    let victim = 0;
    const boxes: readonly Box[] = ['bubblewrap', 'none', ...(e2e.env[VM] === undefined ? [] : (['vm'] as const))];
    for (const box of boxes) victim = await attackIn(box, scene);
    await hostileReports({ checks: e2e.checks, report, store: scene.store }, victim);
    await stack.stop();
  } finally {
    await clearUp(e2e.dataDir);
  }
}

/** @returns the number of an issue whose pull request waits for its review. */
async function attackIn(box: Box, scene: Scene): Promise<number> {
  const { checks } = scene.e2e;
  const worker = startWorker(box, scene);
  try {
    const issues = [await developed(scene, box), await developed(scene, box)] as const;
    const texts = await scene.store.rows<{ text: string }>(
      `select coalesce(content, '') || coalesce(tool_output::text, '') as text from agent_messages`,
    );
    const all = texts.map(({ text }) => text).join('\n');
    const noEffect = (attack: string, effect: unknown) =>
      checks.that(`${box}: ${attack}: ${effect ? 'EFFECT' : 'no effect'}`, !effect);
    const tried = [...all.matchAll(/\[\[([a-z]{1,20})\|([^|\]]{1,100})\|tried\]\]/g)].filter(
      ([, where]) => where === box,
    );
    const names = new Set(tried.map(([, , name = '']) => name));
    checks.that(`${box}: all attacks ran`, names.delete('last'));
    for (const name of names) noEffect(name, all.includes(`[[${box}|${name}|EFFECT]]`));
    const [[first = '', second = ''], bodies] = [await pushedBy(scene, issues), await pullTexts(scene)];
    const pushed = first + second;
    noEffect('exchange of a folder during git add', pushed.includes('SECRET'));
    noEffect('process that outlives its task', second.includes(`evil-${issues[0]}`));
    noEffect('key in a file', pushed.includes(KEY));
    noEffect(
      'key in a title, a body or a transcript',
      [KEY, Buffer.from(KEY).toString('base64')].some((form) => (bodies + all).includes(form)),
    );
    const costs = await scene.store.rows<{ cost: string }>('select coalesce(max(cost_usd), 0) cost from issues');
    noEffect('invented price', Number(costs[0]?.cost) > 1_000);
    return issues[1];
  } catch (error) {
    throw new Error(worker.output().slice(-3_000), { cause: error });
  } finally {
    await worker.kill();
  }
}

function startWorker(box: Box, { e2e, report, gitToken }: Scene) {
  const folder = join(e2e.dataDir, `hostile-${box}`);
  const home = join(folder, 'operator');
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, 'secret'), 'SECRET of the operator\n');
  const egress = join(folder, 'egress.txt');
  writeFileSync(egress, 'example.org\n');
  const options = { server: report.hosted.url, agent: scriptedAgentCommand(HOSTILE_SCRIPT), sandbox: box, name: box };
  const args = Object.entries(options).flatMap(([key, value]) => [`--${key}`, value]);
  args.push('--work-dir', join(folder, 'work'), '--no-check', '--types', 'analyze,plan,develop');
  args.push('--env', 'MODEL_KEY,HOSTILE_PORT,OPERATOR_HOME,BOX');
  if (box !== 'none') args.push('--egress', egress, '--sandbox-read', ROOT);
  if (box === 'vm') args.push('--vm-accel', e2e.env[VM] ?? '');
  const env = {
    PATH: e2e.env.PATH ?? '',
    HOME: home,
    WORKER_TOKEN: report.hosted.workerToken,
    GIT_TOKEN: gitToken,
    MODEL_KEY: KEY,
    HOSTILE_PORT: new URL(report.hosted.url).port,
    OPERATOR_HOME: home,
    BOX: box,
  };
  const child = spawn(process.execPath, [join(ROOT, 'libs/agent/src/main.ts'), ...args], { env, stdio: 'pipe' });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      text += chunk;
    });
  return {
    output: () => text,
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

/** Opens an issue and waits until its pull request is known. @returns its number. */
async function developed({ report, store }: Scene, box: Box): Promise<number> {
  const response = await fetch(`${report.sandbox.url}/repos/${report.repos[0]}/issues`, {
    method: 'POST',
    headers: { authorization: `Bearer ${report.sandbox.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ title: `Hostile in ${box}`, labels: ['svc:enqueue'] }),
  });
  const { number } = (await response.json()) as { number: number };
  const hasPull = async () => (await store.pulls()).some(({ issue }) => issue === number);
  const withinMs = box === 'vm' ? IN_MACHINES_WITHIN_MS : WITHIN_MS;
  await poll('the issue has a pull request', hasPull, { withinMs });
  return number;
}

/** Returns the changes and messages of the commits that were pushed for issues. */
const pushedBy = ({ e2e, report }: Scene, issues: readonly number[]): Promise<string[]> =>
  withClone({ report, searchPath: e2e.env.PATH ?? '' }, async (git) => {
    const logs = issues.map((issue) => git('log', '-1', '-p', `svc/issue-${issue}`));
    return Promise.all(logs);
  });

async function pullTexts({ report }: Scene): Promise<string> {
  const address = `${report.sandbox.url}/repos/${report.repos[0]}/pulls?state=all`;
  return (await fetch(address, { headers: { authorization: `Bearer ${report.sandbox.token}` } })).text();
}
