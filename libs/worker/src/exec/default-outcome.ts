import { dirname } from 'node:path';
import type { ClaimedTask } from '@pipeline/contract';
import { DEFAULT_OUTCOME } from '@pipeline/domain';
import { checkedOutcome, failure, type Verdict } from '../tasks/verdict.ts';
import { ContainedProcess } from './contained.ts';
import type { ProcessStarter } from './process-namespace.ts';
import { outputOf } from './program-output.ts';

const GIT_LIMITS = { maxBytes: 16 * 1024 * 1024, timeoutMs: 10 * 60_000 };
const MAX_TITLE = 256;
const MAX_PLAN = 100_000;
const MAX_SUMMARY = 20_000;

export interface LeftBehind {
  /** Work directory; a git work tree if the program created one. */
  workDir: string;
  env: Record<string, string>;
  /** Starts git as the program was started: the work directory is untrusted, and its git configuration may run programs. */
  starter: ProcessStarter;
  /** Plain lines of the program on stdout. */
  stdout: string;
  /** True = the program printed code-map lines. */
  mapped: boolean;
}

/**
 * Returns the default outcome of a program that exited with 0 without an outcome line: a submission from the pushed branch,
 * a plan from the printed text, and so on; or a failure that names the missing part.
 */
export async function defaultVerdict(task: ClaimedTask, left: LeftBehind): Promise<Verdict> {
  const outcome = DEFAULT_OUTCOME[task.taskType];
  if (outcome === 'analyzed') return checkedOutcome(task, outcome, {});
  if (outcome === 'planned') return plannedFrom(task, left.stdout);
  if (outcome === 'submitted') return submittedFrom(task, left);
  if (outcome === 'retrospective') return retrospectiveFrom(task, left.stdout);
  if (outcome === 'scanned') return scannedFrom(task, left.mapped);
  const headSha = task.payload.pr?.headSha;
  if (outcome === 'mergeable' && headSha) return checkedOutcome(task, outcome, { headSha });
  return failure(`exit code 0, but the commit to merge is unknown: print {"type":"outcome",…}`);
}

function plannedFrom(task: ClaimedTask, stdout: string): Verdict {
  if (stdout.trim() === '') return failure('exit code 0, but no plan: print it as text, or as {"type":"outcome",…}');
  return checkedOutcome(task, 'planned', { plan: stdout.trim().slice(0, MAX_PLAN), plannedFiles: [] });
}

/** The printed text is the summary; the classification follows from the end of the issue. */
function retrospectiveFrom(task: ClaimedTask, stdout: string): Verdict {
  const summary = stdout.trim().slice(0, MAX_SUMMARY);
  if (summary === '') return failure('exit code 0, but no summary: print it as text, or as {"type":"outcome",…}');
  const outcomeClassification = task.payload.history?.end === 'merged' ? 'success' : 'abandoned';
  return checkedOutcome(task, 'retrospective', { outcomeClassification, summary });
}

/** An empty map would replace the stored one, so a scan without code-map lines is a failure. */
function scannedFrom(task: ClaimedTask, mapped: boolean): Verdict {
  if (!mapped)
    return failure('exit code 0, but no code map: print {"type":"code-map",…} lines, or {"type":"outcome",…}');
  return checkedOutcome(task, 'scanned', { files: [], symbols: [] });
}

async function submittedFrom(task: ClaimedTask, { workDir, env, starter }: LeftBehind): Promise<Verdict> {
  // A work directory inside another git project must not be treated as that project.
  const own = { ...env, GIT_CEILING_DIRECTORIES: dirname(workDir) };
  const git = async (...args: string[]) => {
    const launch = starter.launch({ command: ['git', ...args], env: own, cwd: workDir });
    const { exitCode, stdout, stderr } = await outputOf(new ContainedProcess(launch, 'pipe'), GIT_LIMITS);
    if (exitCode !== 0) throw new Error(stderr);
    return stdout.toString('utf8').trim();
  };
  const missing = (what: string) =>
    failure(`exit code 0, but ${what}: print {"type":"outcome",…}, or leave a pushed branch in PIPELINE_WORK_DIR`);
  try {
    const branch = await git('symbolic-ref', '-q', '--short', 'HEAD').catch(() => null);
    if (branch === null) return missing('the work dir has no branch checked out');
    const base = task.payload.repo.defaultBranch;
    if (branch !== task.payload.branch) return missing(`the work is on ${branch}, not on ${task.payload.branch}`);
    const headSha = await git('rev-parse', 'HEAD');
    const pushed = await git('rev-parse', '-q', '--verify', `refs/remotes/origin/${branch}`).catch(() => null);
    if (pushed !== headSha) return missing(`${branch} is not pushed to origin`);
    const changed = await git('diff', '--name-only', '-z', `refs/remotes/origin/${base}...HEAD`);
    if (changed === '') return missing(`${branch} changes nothing`);
    const title = (await git('log', '-1', '--format=%s')).slice(0, MAX_TITLE);
    const text = await git('log', '-1', '--format=%b');
    const refs = task.issueNumber === null || text.includes(`#${task.issueNumber}`) ? '' : `Refs #${task.issueNumber}`;
    const body = [text, refs].filter((part) => part !== '').join('\n\n');
    const changedFiles = changed.split('\0').filter((path) => path !== '');
    return checkedOutcome(task, 'submitted', { branch, headSha, title, body, changedFiles });
  } catch (error) {
    return missing(`git in the work dir failed (${(error as Error).message.trim()})`);
  }
}
