import {
  dependenciesIn,
  dependencyChanges,
  formatIssueRef,
  slugKey,
  type TextDependency,
  type TextHome,
} from '@pipeline/domain';
import {
  activeDependencies,
  deleteDependency,
  findIssue,
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

/** The host state of issues without a record, by `hostStateKey`. Issues that are not in it count as open. */
export type HostStates = ReadonlyMap<string, 'closed' | 'missing'>;

/** Host states for a text that names no issue without a record. */
export const NO_HOST_STATES: HostStates = new Map();

/** The key of an issue in `HostStates`: its repo in lower case and its number. */
export const hostStateKey = ({ repo, number }: TextDependency): string => `${slugKey(repo)}#${number}`;

/** The dependencies of an issue's text. */
interface TextWait {
  /** Issues that are not done. */
  open: number;
  /** Set when the wait would never end: the question to a person. */
  question: string | null;
}

const homeOf = ({ issue, repo }: IssueContext): TextHome => ({
  repo,
  number: issue.issue_number,
  url: issue.url,
});

/** Adds the dependencies of an issue's whole text. @param hostStates the host state of issues without a record. */
export function addTextDependencies(
  unit: TransactionContext,
  subject: IssueContext,
  hostStates: HostStates = NO_HOST_STATES,
): Promise<TextWait> {
  return addDependencies(unit, subject, dependenciesIn(subject.issue.body, homeOf(subject)), hostStates);
}

/**
 * Adds and removes the dependencies that an edit of the text changes.
 * @returns null if the edit adds none.
 */
export async function editTextDependencies(
  unit: TransactionContext,
  subject: IssueContext,
  before: string,
  hostStates: HostStates = NO_HOST_STATES,
): Promise<TextWait | null> {
  const { added, removed } = dependencyChanges(before, subject.issue.body, homeOf(subject));
  if (added.length + removed.length === 0) return null;
  await removeDependencies(unit, subject, removed);
  const wait = await addDependencies(unit, subject, added, hostStates);
  if (removed.length > 0) unit.notify('svc_cache');
  return added.length === 0 ? null : wait;
}

async function removeDependencies(
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

async function addDependencies(
  unit: TransactionContext,
  subject: IssueContext,
  added: readonly TextDependency[],
  hostStates: HostStates,
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
    const hostState = hostStates.get(hostStateKey(dependency));
    const cycle = await waitFor(unit, subject, { dependency, repoId, hostState });
    question ??= cycle;
  }
  await resolveEdgesToEnded(tx, tenantId, child);
  return { open: (await activeDependencies(tx, tenantId, child)).length, question };
}

interface NamedIssue {
  dependency: TextDependency;
  /** null = no enabled repo of the tenant. */
  repoId: number | null;
  hostState: 'closed' | 'missing' | undefined;
}

/** @returns the question if the wait would be a cycle; it is not begun then. */
async function waitFor(
  unit: TransactionContext,
  subject: IssueContext,
  { dependency, repoId, hostState }: NamedIssue,
): Promise<string | null> {
  const { tx, tenantId } = unit;
  const { issue } = subject;
  const { repo, number } = dependency;
  const reference = repoId === issue.repo_id ? `#${number}` : formatIssueRef(repo, number);
  if (repoId === null || hostState === 'missing') {
    recordNote(unit, subject, `does not wait for ${reference}: no issue of an enabled repository`);
    return null;
  }
  const child = { repoId: issue.repo_id, number: issue.issue_number, issueId: issue.id };
  const parent = { repoId, number, issueId: (await findIssue(tx, tenantId, repoId, number))?.id ?? null };
  if (await wouldCycle(tx, tenantId, child, parent)) {
    recordNote(unit, subject, `does not wait for ${reference}: that one waits for this issue`);
    return `It depends on ${reference}, which in turn waits for this issue. Which of the two comes first?`;
  }
  await upsertEdge(tx, tenantId, { kind: 'depends_on', child, parent });
  if (hostState === 'closed' && parent.issueId === null) await resolveEdgesToHost(tx, tenantId, parent, 'closed');
  return null;
}

const recordNote = (unit: TransactionContext, subject: IssueContext, status: string): void =>
  recordIssueEvent(unit, subject, { status, details: null, actor: ENGINE });
