/**
 * Runs the commands of docs/quickstart-github.md, each in its order, as a reader would: in a fresh clone, against
 * containers, with the sandbox host in place of GitHub and a scripted agent in place of one with a model. A command
 * that this program does not know fails it, so the page and the program change together.
 * One line per command; exit code 1 at the first that fails. Without an engine: prints that and ends with 0.
 *
 *   node scripts/e2e-quickstart.ts
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type SandboxHost, startSandbox } from '../libs/sandbox-host/src/index.ts';
import { openPage, submitForm } from '../libs/testing/src/sandbox/index.ts';
import { scriptedAgentCommand } from '../libs/testing/src/scripted-agent/index.ts';
import { runWithEngine } from './containers/docker.ts';
import { check, until } from './containers/report.ts';
import { freePort } from './free-port.ts';

const root = join(import.meta.dirname, '..');
const PAGE = 'docs/quickstart-github.md';
const SLUG = 'acme/shop';
const OWNER_TOKEN = 'acme-token-1';
const COMMAND_WITHIN_MS = 300_000;
const MERGED_WITHIN_MS = 180_000;

const folder = mkdtempSync(join(tmpdir(), 'quickstart-'));
const clone = join(folder, 'clone');
const ports = { hosted: await freePort(), monitor: await freePort() };
const env: NodeJS.ProcessEnv = {
  ...process.env,
  COMPOSE_PROJECT_NAME: `quickstart-${process.pid}`,
  PIPELINE_TAG: 'e2e',
  HOSTED_PORT: String(ports.hosted),
  MONITOR_PORT: String(ports.monitor),
  // The reader's own machine would get the agent.
  npm_config_prefix: join(folder, 'npm'),
};
let sandbox: SandboxHost;
let forwarder: Server | undefined;
let agent: ChildProcess | undefined;
let workerToken = '';

/** The commands of the page: its indented lines. */
function commandsOf(page: string): string[] {
  return page
    .split('\n')
    .filter((line) => line.startsWith('    '))
    .map((line) => line.trim());
}

type Step = [pattern: RegExp, run: (command: string) => Promise<unknown>];

/** Function that runs each command of the page, with its differences from the page. */
const STEPS: readonly Step[] = [
  [/^node scripts\/bootstrap\.mjs install$/, shell],
  [/^npm run -s pipeline -- init /, register],
  [/^docker compose up --build --detach --wait$/, shell],
  [
    /^docker compose exec monitor cat /,
    async (command) => matches(await shell(withoutTerminal(command)), /^[0-9a-f]{48}$/),
  ],
  [/^docker compose exec monitor pipeline repo add acme\/shop$/, (command) => shell(withoutTerminal(command))],
  [/^docker compose exec monitor pipeline doctor acme\/shop$/, diagnose],
  [
    /^docker compose run --rm migrate node bin\/worker-token\.cjs --name laptop$/,
    async (command) => {
      workerToken = matches(await shell(command.replace('run --rm', 'run --rm -T')), /wrk_at_\S+/);
    },
  ],
  [/^npm install --global @agentclientprotocol\/claude-agent-acp$/, shell],
  [
    /^export WORKER_TOKEN=wrk_at_…\s+ANTHROPIC_API_KEY=…$/,
    async () => Object.assign(env, { WORKER_TOKEN: workerToken, ANTHROPIC_API_KEY: 'none is needed' }),
  ],
  [/^npx pipeline-agent --server http:\/\/127\.0\.0\.1:8080 --agent claude$/, startAgent],
];

async function perform(command: string): Promise<void> {
  const step = STEPS.find(([pattern]) => pattern.test(command));
  if (!step) throw new Error(`${PAGE} has a command that this program does not run: ${command}`);
  await check(command, async () => void (await step[1](command)));
}

/**
 * A clone of the checkout as it is, and the host of the repository, which containers reach by the address of the
 * bridge.
 */
async function prepare(): Promise<void> {
  await shell(`git clone -q "${root}" "${clone}"`, root);
  const changed = spawnSync('git', ['-C', root, 'ls-files', '-mo', '--exclude-standard'], { encoding: 'utf8' }).stdout;
  for (const path of changed.split('\n').filter(Boolean)) cpSync(join(root, path), join(clone, path));
  // A bridge that is older than the daemon has no entry for its gateway, which is its first address.
  const gateway = '{{with index .IPAM.Config 0}}{{or .Gateway .Subnet}}{{end}}';
  const network = (await shell(`docker network inspect bridge --format '${gateway}'`, root)).trim();
  const bridge = network.replace(/\.0\/\d+$/, '.1');
  const port = await freePort();
  sandbox = await startSandbox({
    dataDir: join(folder, 'host'),
    port,
    publicUrl: `http://${bridge}:${port}`,
    users: [{ login: 'acme', token: OWNER_TOKEN }],
    repos: [{ slug: SLUG, private: true, ci: [{ name: 'test', seconds: 2 }], mergeMethods: ['squash'] }],
  });
  forwarder = createServer((from) => {
    const to = connect(port, '127.0.0.1');
    from.pipe(to).pipe(from);
    for (const [one, other] of [
      [from, to],
      [to, from],
    ] as const)
      one.on('error', () => other.destroy());
  });
  await new Promise<void>((resolve) => forwarder?.listen(port, bridge, resolve));
}

const withoutTerminal = (command: string): string => command.replace(' exec ', ' exec -T ');

/** A person confirms the app on the host and installs it. The host is the sandbox, so --host names it. */
async function register(command: string): Promise<void> {
  const local = `http://127.0.0.1:${new URL(sandbox.url).port}`;
  const child = spawn('bash', ['-c', `${command} --no-open --host ${local}`], { cwd: clone, env });
  const ended = outputOf(child, command);
  const shown = await new Promise<string>((resolve, reject) => {
    let said = '';
    child.stderr.on('data', (chunk: Buffer) => {
      said += chunk;
      const address = /http:\/\/127\.0\.0\.1:\d+\/[\w-]{22}/.exec(said)?.[0];
      if (address) resolve(address);
    });
    ended.catch(reject);
  });
  const confirmed = await submitForm(await submitForm(await openPage(shown)), {
    name: 'Quickstart',
    token: OWNER_TOKEN,
  });
  const back = await openPage(confirmed.location ?? '');
  await submitForm(await openPage(back.location ?? ''), { repositories: 'shop', token: OWNER_TOKEN });
  await ended;
  // A container has a loopback address of its own.
  const file = join(clone, 'deploy/env/github-app.env');
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, text.replaceAll(local, sandbox.url), { mode: 0o600 });
  const appId = Number(/^GITHUB_APP_ID='(\d+)'$/m.exec(text)?.[1]);
  const checks = [{ context: 'test' }, { context: 'svc/review', app_id: appId }];
  await onHost('PUT', `/repos/${SLUG}/branches/main/protection`, {
    required_status_checks: { strict: true, checks },
    enforce_admins: true,
    required_pull_request_reviews: null,
    restrictions: null,
  });
}

/** Without a webhook there are warnings, and the exit status is 1; an error would be a step that the page lacks. */
async function diagnose(command: string): Promise<void> {
  const report = await shell(`${withoutTerminal(command)} || [ $? = 1 ]`);
  if (!/^ok +workers: /m.test(report) || /^error/m.test(report)) throw new Error(report);
}

const VERDICTS = {
  analyze: [[{ verdict: { outcome: 'analyzed', result: {} } }]],
  plan: [[{ verdict: { outcome: 'planned', result: { plan: 'Write the list.', plannedFiles: ['list.md'] } } }]],
  develop: [
    [
      { write: { path: 'list.md', text: '# List\n' } },
      { verdict: { outcome: 'submitted', result: { title: 'Add the list', body: 'As planned.' } } },
    ],
  ],
  review: [[{ read: { path: 'list.md' } }, { verdict: { outcome: 'approved', result: { body: 'Fine.' } } }]],
  retrospect: [
    [{ verdict: { outcome: 'retrospective', result: { outcomeClassification: 'success', summary: 'Merged.' } } }],
  ],
};

/** The agent of the page needs a key; a scripted one has none. It runs until the end. */
async function startAgent(command: string): Promise<void> {
  const script = join(folder, 'script.json');
  writeFileSync(script, JSON.stringify({ tasks: VERDICTS }));
  env.AGENT_COMMAND = scriptedAgentCommand(script);
  const here = command
    .replace('127.0.0.1:8080', `127.0.0.1:${ports.hosted}`)
    .replace('--agent claude', '--agent "$AGENT_COMMAND"');
  // Machines that run this may have no bubblewrap; the scripted agent runs without a model.
  agent = spawn(
    'bash',
    [
      '-c',
      `exec ${here} --sandbox none --work-dir "${join(folder, 'work')}" --sandbox-read "${root}" --sandbox-read "${script}"`,
    ],
    { cwd: clone, env, detached: true }, // npx starts the worker as its child: a signal to the group ends both
  );
  let said = '';
  for (const stream of [agent.stdout, agent.stderr])
    stream?.on('data', (chunk: Buffer) => {
      said += chunk;
    });
  await Promise.race([
    until('the agent is registered', async () => said.includes('"msg":"registered"'), 30_000),
    new Promise((_resolve, reject) =>
      agent?.once('exit', (code) => reject(new Error(`it ended with ${code}: ${said}`))),
    ),
  ]);
}

interface Pull {
  merged_at: string | null;
  title: string;
  head: { sha: string };
}

async function merged(): Promise<string> {
  await onHost('POST', `/repos/${SLUG}/issues`, { title: 'A list of all things', labels: ['svc:enqueue'] });
  let pull: Pull | undefined;
  await until(
    'the pull request is merged',
    async () => {
      const closed = (await onHost('GET', `/repos/${SLUG}/pulls?state=closed`)) as Pull[];
      pull = closed.find(({ merged_at: at }) => at !== null);
      return pull !== undefined;
    },
    MERGED_WITHIN_MS,
  );
  const { state } = (await onHost('GET', `/repos/${SLUG}/commits/${pull?.head.sha}/check-runs`).then((checks) => ({
    state: (checks as { check_runs: { name: string; conclusion: string }[] }).check_runs,
  }))) as { state: { name: string; conclusion: string }[] };
  if (!state.some(({ name, conclusion }) => name === 'test' && conclusion === 'success'))
    throw new Error(`merged with the checks ${JSON.stringify(state)}`);
  return pull?.title ?? '';
}

async function onHost(method: string, path: string, body?: object): Promise<unknown> {
  const response = await fetch(`http://127.0.0.1:${new URL(sandbox.url).port}${path}`, {
    method,
    headers: { authorization: `Bearer ${OWNER_TOKEN}` },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return text === '' ? null : JSON.parse(text);
}

/** @returns what the command printed. @throws Error with its output when it fails. */
function shell(command: string, cwd = clone): Promise<string> {
  const child = spawn('bash', ['-c', command], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: COMMAND_WITHIN_MS,
  });
  return outputOf(child, command);
}

function outputOf(child: ChildProcess, command: string): Promise<string> {
  let out = '';
  let err = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    out += chunk;
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    err += chunk;
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) resolve(out);
      else reject(new Error(`"${command}" ended with ${code}:\n${(out + err).slice(-4_000)}`));
    });
  });
}

function matches(text: string, pattern: RegExp): string {
  const found = pattern.exec(text.trim())?.[0];
  if (found === undefined) throw new Error(`expected ${pattern}, the command printed ${text.length} characters`);
  return found;
}

function remove(): void {
  if (agent?.pid !== undefined && agent.exitCode === null) process.kill(-agent.pid, 'SIGKILL');
  spawnSync('docker', ['compose', 'down', '--volumes', '--remove-orphans', '--timeout', '5'], { cwd: clone, env });
  forwarder?.close();
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}

await runWithEngine({
  async everything() {
    await prepare();
    for (const command of commandsOf(readFileSync(join(root, PAGE), 'utf8'))) await perform(command);
    await check('an issue with the label is merged on the host, with its required check green', merged);
  },
  remove,
  logs: () =>
    spawnSync('docker', ['compose', 'logs', '--no-color', '--tail', '20'], { cwd: clone, env, encoding: 'utf8' })
      .stdout,
});
process.exit();
