/**
 * Runs a step `uses: OWNER/pipeline/.github/actions/NAME@REF` as a runner of GitHub Actions does: the repository of the
 * action is checked out beside an empty workspace, and the steps of the composite action get its inputs alone.
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { parse } from 'yaml';
import { ROOT } from '../../../libs/stack/src/children/context.ts';

interface Action {
  inputs: Record<string, { default?: string }>;
  runs: { using: string; steps: { name: string; shell: string; run: string; env?: Record<string, string> }[] };
}

/** A step of a workflow that uses an action. */
export interface ActionStep {
  uses: string;
  with: Record<string, string>;
}

export interface ActionResult {
  /** Exit status of the step that failed, or 0. */
  status: number;
  output: string;
  /** The JUnit file in the workspace, and the summary of the job; empty when the action wrote none. */
  junit: string;
  summary: string;
}

/** A machine that runs jobs of one foreign repository. */
export class ActionRunner {
  readonly #folder: string;
  readonly #checkouts = new Map<string, string>();
  #jobs = 0;

  /** @param folder an empty one outside of this repository. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Runs the step in a new workspace that holds the workflow of the repository and nothing else. */
  async run(step: ActionStep): Promise<ActionResult> {
    this.#jobs += 1;
    const job = join(this.#folder, `job-${this.#jobs}`);
    const workspace = join(job, 'workspace');
    mkdirSync(workspace, { recursive: true });
    const summary = join(job, 'summary.md');
    const path = this.#checkOut(step.uses);
    const action = parse(readFileSync(join(path, 'action.yml'), 'utf8')) as Action;
    if (action.runs.using !== 'composite') throw new Error(`${step.uses} is not a composite action`);
    const inputs = inputsOf(action, step);
    const files = { GITHUB_STEP_SUMMARY: summary, GITHUB_OUTPUT: join(job, 'output'), GITHUB_ENV: join(job, 'env') };
    for (const file of Object.values(files)) writeFileSync(file, '');
    let output = '';
    let status = 0;
    for (const { shell, run, env = {} } of action.runs.steps) {
      if (shell !== 'bash') throw new Error(`${step.uses} needs the shell ${shell}`);
      const own = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, expand(value, { inputs })]));
      const result = await runStep(workspace, run, { ...own, ...files, GITHUB_ACTION_PATH: path });
      output += result.output;
      status = result.status;
      if (status !== 0) break;
    }
    const junit = contentOf(join(workspace, inputs.junit ?? ''));
    return { status, output, junit, summary: contentOf(summary) };
  }

  /** The files of this working tree in place of those that the runner downloads, without what was installed in it. */
  #checkOut(uses: string): string {
    const [, owner, repo, folder, ref] = /^([^/]+)\/([^/]+)\/(.+)@(.+)$/.exec(uses) ?? [];
    if (!owner || !repo || !folder || !ref) throw new Error(`${uses} names no action`);
    const root = this.#checkouts.get(uses) ?? join(this.#folder, '_actions', owner, repo, ref);
    if (!this.#checkouts.has(uses)) copyFiles(root);
    this.#checkouts.set(uses, root);
    return join(root, folder);
  }
}

/** Replaces expressions such as `${{ inputs.hosted }}`, the only kind that the action and its users need. */
export function expand(value: string, contexts: Readonly<Record<string, Readonly<Record<string, string>>>>): string {
  return value.replace(/\$\{\{ (\w+)\.([\w-]+) \}\}/g, (expression, context: string, name: string) => {
    const found = contexts[context]?.[name];
    if (found === undefined) throw new Error(`${expression} has no value`);
    return found;
  });
}

function inputsOf(action: Action, step: ActionStep): Record<string, string> {
  const unknown = Object.keys(step.with).find((name) => !(name in action.inputs));
  if (unknown !== undefined) throw new Error(`${step.uses} has no input ${unknown}`);
  const defaults = Object.entries(action.inputs).map(([name, input]) => [name, input.default ?? '']);
  return { ...Object.fromEntries(defaults), ...step.with };
}

function copyFiles(folder: string): void {
  mkdirSync(folder, { recursive: true });
  const list = 'git ls-files -z --cached --others --exclude-standard --deduplicate';
  const existing = `${list} | while IFS= read -r -d '' file; do [ ! -e "$file" ] || printf '%s\\0' "$file"; done`;
  const script = `${existing} | tar -c --null --files-from=- | tar -x -C "$1"`;
  const { status, stderr } = spawnSync('bash', ['-euo', 'pipefail', '-c', script, 'bash', folder], { cwd: ROOT });
  if (status === 0) return;
  rmSync(folder, { recursive: true, force: true });
  throw new Error(`the action cannot be checked out: ${stderr}`);
}

/** Environment of a runner: nothing of the services or of their clients. */
const INHERITED = Object.entries(process.env).filter(([name]) => !/^(PIPELINE_|MONITOR_|PATH$)/.test(name));

async function runStep(cwd: string, script: string, env: Record<string, string>) {
  // Without the programs of this installation, which `npm run` puts first.
  const PATH = (process.env.PATH ?? '')
    .split(':')
    .filter((folder) => !folder.startsWith(ROOT))
    .join(':');
  // As GitHub runs `shell: bash`.
  const child = spawn('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', script], {
    cwd,
    env: { ...Object.fromEntries(INHERITED), PATH, CI: 'true', GITHUB_ACTIONS: 'true', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve(code ?? 1));
  });
  const [out, err, status] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { output: out + err, status };
}

function contentOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
