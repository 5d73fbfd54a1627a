import {
  dependenciesIn,
  dependencyChanges,
  formatIssueRef,
  mayDepend,
  type State,
  slugKey,
  type TextDependency,
  type TextHome,
} from '@pipeline/domain';
import {
  activeDependencies,
  deleteDependency,
  findIssue,
  lockWorkTask,
  repoIdsByKey,
  resolveEdgesToEnded,
  resolveEdgesToHost,
  subtasksOf,
  upsertEdge,
  wouldCycle,
} from '@pipeline/store';
import type { TransactionContext } from '../context/context.ts';
import { ENGINE, type IssueContext } from '../context/issue-context.ts';
import { recordIssueEvent } from '../records/records.ts';
import { type Move, moveBy } from './move.ts';

/** The host state of issues without a record, by keyOf. Issues that are not in it count as open. */
export type HostWord = ReadonlyMap<string, 'closed' | 'missing'>;

/** For a text that names no issue without a record. */
export const nothingAsked: HostWord = new Map();

/** The key of an issue in a `HostWord`: its repo in lower case and its number. */
export const keyOf = ({ repo, number }: TextDependency): string => `${slugKey(repo)}#${number}`;

/** The dependencies of an issue's text. */
interface TextWait {
  /** Issues that are not done. */
  open: number;
  /** Set when the wait would never end: the question to a person. */
  question: string | null;
}

const homeOf = ({ issue, repo }: IssueContext): TextHome => ({ repo, number: issue.issue_number, url: issue.url });

/** Applies the whole text of an issue on admission. @param asked the host state of issues without a record. */
export function takeText(
  unit: TransactionContext,
  subject: IssueContext,
  asked: HostWord = nothingAsked,
): Promise<TextWait> {
  return apply(unit, subject, dependenciesIn(subject.issue.body, homeOf(subject)), asked);
}

/**
 * Applies an edit of the text. Removed dependencies are resolved; the release loop moves the issue. Added ones hold the
 * issue immediately if no worker is working on it, else from the next decision on: a running task is never withdrawn
 * for them. A cycle becomes a question to a person where possible, and is not waited for.
 * @returns the issue context after the edit.
 */
export async function followText(
  unit: TransactionContext,
  subject: IssueContext,
  { before, asked = nothingAsked }: { before: string; asked?: HostWord },
): Promise<IssueContext> {
  const { issue, workflow } = subject;
  const { added, removed } = dependencyChanges(before, issue.body, homeOf(subject));
  if (added.length + removed.length === 0) return subject;
  await forget(unit, subject, removed);
  const { open, question } = await apply(unit, subject, added, asked);
  if (removed.length > 0) unit.notify('svc_cache');
  if (added.length === 0 || !mayDepend(workflow, issue.state as State)) return subject;
  const task = await lockWorkTask(unit.tx, unit.tenantId, issue.id);
  if (task?.status === 'claimed' || (question === null && open === 0)) return subject;
  const next: Move = question === null ? { cause: { trigger: 'depends' }, actor: ENGINE } : asking(question);
  return (await moveBy(unit, subject, next)).subject;
}

/** The transition that asks a person. */
export const asking = (question: string): Move => ({
  cause: { trigger: 'needs-clarification' },
  actor: ENGINE,
  stop: { question },
});

async function forget(
  unit: TransactionContext,
  { issue }: IssueContext,
  removed: readonly TextDependency[],
): Promise<void> {
  const child = { repoId: issue.repo_id, number: issue.issue_number };
  const repos = await repoIdsByKey(
    unit.tx,
    unit.tenantId,
    removed.map(({ repo }) => repo),
  );
  for (const { repo, number } of removed) {
    const repoId = repos.get(slugKey(repo));
    if (repoId !== undefined) await deleteDependency(unit.tx, unit.tenantId, { child, parent: { repoId, number } });
  }
}

async function apply(
  unit: TransactionContext,
  subject: IssueContext,
  added: readonly TextDependency[],
  asked: HostWord,
): Promise<TextWait> {
  const { tx, tenantId } = unit;
  const { issue } = subject;
  const child = { repoId: issue.repo_id, number: issue.issue_number };
  if (added.length === 0) return { open: subject.openDependencies, question: null };
  const repos = await repoIdsByKey(
    tx,
    tenantId,
    added.map(({ repo }) => repo),
  );
  // An epic already waits for its subtasks, even if its text lists them.
  const subtasks = new Set((await subtasksOf(tx, tenantId, child)).map((edge) => edge.child_issue_number));
  let question: string | null = null;
  for (const dependency of added) {
    const repoId = repos.get(slugKey(dependency.repo)) ?? null;
    if (repoId === child.repoId && subtasks.has(dependency.number)) continue;
    const circle = await waitFor(unit, subject, { dependency, repoId, word: asked.get(keyOf(dependency)) });
    question ??= circle;
  }
  await resolveEdgesToEnded(tx, tenantId, child);
  return { open: (await activeDependencies(tx, tenantId, child)).length, question };
}

interface Named {
  dependency: TextDependency;
  /** null = no enabled repo of the tenant. */
  repoId: number | null;
  word: 'closed' | 'missing' | undefined;
}

/** @returns the question if the wait would be a cycle; it is not begun then. */
async function waitFor(
  unit: TransactionContext,
  subject: IssueContext,
  { dependency, repoId, word }: Named,
): Promise<string | null> {
  const { tx, tenantId } = unit;
  const { issue } = subject;
  const { repo, number } = dependency;
  const reference = repoId === issue.repo_id ? `#${number}` : formatIssueRef(repo, number);
  if (repoId === null || word === 'missing') {
    note(unit, subject, `does not wait for ${reference}: no issue of an enabled repository`);
    return null;
  }
  const child = { repoId: issue.repo_id, number: issue.issue_number, issueId: issue.id };
  const parent = { repoId, number, issueId: (await findIssue(tx, tenantId, repoId, number))?.id ?? null };
  if (await wouldCycle(tx, tenantId, child, parent)) {
    note(unit, subject, `does not wait for ${reference}: that one waits for this issue`);
    return `It depends on ${reference}, which in turn waits for this issue. Which of the two comes first?`;
  }
  await upsertEdge(tx, tenantId, { kind: 'depends_on', child, parent });
  if (word === 'closed' && parent.issueId === null) await resolveEdgesToHost(tx, tenantId, parent, 'closed');
  return null;
}

const note = (unit: TransactionContext, subject: IssueContext, status: string): void =>
  recordIssueEvent(unit, subject, { status, details: null, actor: ENGINE });
