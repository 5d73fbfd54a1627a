import {
  compareStamps,
  dependenciesIn,
  dependencyChanges,
  ENQUEUE_LABEL,
  type HostHistory,
  type HostIssue,
  sameText,
  slugKey,
  textEditors,
  textHash,
} from '@pipeline/domain';
import { findIssue, type HostFactsRow, hostFactsOf, repoIdsByKey } from '@pipeline/store';
import type { Intake } from '../repos/repo-address.ts';
import { type HostStates, hostStateKey, NO_HOST_STATES } from '../workflow/text-dependencies.ts';
import { firstFacts, type IssueEvent } from './host-facts.ts';
import type { TextVerdict } from './text-changes.ts';

/** Host data that was read before the transaction in which an event is applied. */
export interface Evidence {
  /** Login of the pipeline's own identity. */
  self: string;
  /** True = a person uses that identity too. */
  isPerson: boolean;
  /** null = not needed, as far as was known before the transaction. */
  history: HostHistory | null;
  /** null = the current text is the stored one. */
  text: TextVerdict | null;
  /** The host state of the issues that the text newly names. */
  hostStates: HostStates;
}

type Known = NonNullable<Awaited<ReturnType<typeof findIssue>>>;

const NO_EVIDENCE = { history: null, text: null, hostStates: NO_HOST_STATES };

/**
 * The evidence of an event that changes neither a text nor an issue that is done, as most do: nothing is read for it. Whether
 * it was enough shows when the issue is locked. A request for a new issue is read at once.
 */
export async function firstEvidence(intake: Intake, event: IssueEvent): Promise<Evidence> {
  if (isEnqueue(event) || (event.action === 'opened' && wantsIn(event.issue))) return evidenceFor(intake, event);
  return { ...(await identityOf(intake)), ...NO_EVIDENCE };
}

async function identityOf({ host }: Intake): Promise<Pick<Evidence, 'self' | 'isPerson'>> {
  const [self, isPerson] = await Promise.all([host.login(), host.isPerson()]);
  return { self, isPerson };
}

/**
 * Reads the host data that the event's effect depends on. An event that changes nothing costs no request to the host.
 */
export async function evidenceFor(intake: Intake, event: IssueEvent): Promise<Evidence> {
  const { engine, repo } = intake;
  const { issue } = event;
  const { self, isPerson } = await identityOf(intake);
  const known = await findIssue(engine.store.tenant, repo.tenant_id, repo.id, issue.number);
  if (!known) return { isPerson, ...(await admissionEvidence(intake, event, self)) };
  const differs = !sameText(issue, known);
  if (!differs && known.state !== 'done') return { self, isPerson, ...NO_EVIDENCE };
  const facts = (await hostFactsOf(engine.store.tenant, repo.tenant_id, known.id)) ?? firstFacts(known);
  const needed = known.state === 'done' ? mayBeRequest(event, facts) : differs && needsEditor(event, facts);
  const history = needed ? await historyOf(intake, issue.number) : null;
  const text = differs ? await verdictOn(intake, event, { self, history, known, facts }) : null;
  const counts = issue.state === 'open' && (text?.body || known.state === 'done');
  const hostStates = counts
    ? await readHostStates(intake, issue, known.state === 'done' ? null : known.body)
    : NO_HOST_STATES;
  return { self, isPerson, history, text, hostStates };
}

async function admissionEvidence(intake: Intake, event: IssueEvent, self: string): Promise<Omit<Evidence, 'isPerson'>> {
  if (!wantsIn(event.issue)) return { self, ...NO_EVIDENCE };
  const text = await verdictOnNew(intake, event, self);
  const hostStates = text.title && text.body ? await readHostStates(intake, event.issue, null) : NO_HOST_STATES;
  return { self, history: null, text, hostStates };
}

export const wantsIn = (issue: HostIssue): boolean => issue.state === 'open' && issue.labels.includes(ENQUEUE_LABEL);

/** Returns whether a person added the label for intake with this event: its text is the enqueued one. */
const isEnqueue = ({ action, label, sender }: IssueEvent): boolean =>
  sender !== null && action === 'labeled' && label === ENQUEUE_LABEL;

/** Signs of a request to work on an issue that is done, in data that is not older than the last applied event. */
export function mayBeRequest(event: IssueEvent, facts: Pick<HostFactsRow, 'acted_at'>): boolean {
  const { action, issue, label } = event;
  if (compareStamps(issue.updatedAt, facts.acted_at) < 0) return false;
  if (action === 'seen') return issue.state === 'open' || issue.labels.includes(ENQUEUE_LABEL);
  return action === 'reopened' || (action === 'labeled' && label === ENQUEUE_LABEL);
}

/** Polls do not report who changed a text; a stored change needs to be read again only for a new label. */
function needsEditor({ action, issue }: IssueEvent, facts: HostFactsRow): boolean {
  if (action !== 'seen') return false;
  return facts.changed_sha256 !== textHash(issue) || issue.labels.includes(ENQUEUE_LABEL);
}

interface Around {
  self: string;
  history: HostHistory | null;
  known: Known;
  facts: HostFactsRow;
}

async function verdictOn(intake: Intake, event: IssueEvent, around: Around): Promise<TextVerdict> {
  const { action, issue, sender } = event;
  if (isEnqueue(event)) return accepted(sender);
  if (action === 'edited') {
    const { changed = [] } = event;
    if (!(await isWriter(intake, sender, around.self))) return refused(sender);
    return { title: changed.includes('title'), body: changed.includes('body'), acceptedBy: sender, changedBy: null };
  }
  if (action !== 'seen') return refused(null);
  if (!around.history) return refused(around.facts.changed_by);
  return verdictByHistory(intake, issue, { self: around.self, history: around.history });
}

const accepted = (by: string | null): TextVerdict => ({ title: true, body: true, acceptedBy: by, changedBy: null });
const refused = (by: string | null): TextVerdict => ({ title: false, body: false, acceptedBy: null, changedBy: by });

/**
 * Judges the text of an issue without a record. The label for intake enqueues the text at that time; later changes by
 * an account without write permission are not enqueued.
 */
async function verdictOnNew(intake: Intake, event: IssueEvent, self: string): Promise<TextVerdict> {
  const { issue } = event;
  if (event.action === 'opened' || isEnqueue(event)) return accepted(event.sender);
  if (await isWriter(intake, issue.author, self)) return accepted(issue.author);
  return verdictByHistory(intake, issue, { self, history: await historyOf(intake, issue.number) });
}

/** An issue that does not exist on the host has no history. */
const historyOf = async ({ host, repo }: Intake, number: number): Promise<HostHistory> =>
  (await host.historyOf(repo, number)) ?? { events: [], bodyEdit: null };

/**
 * Write permission decides, as for commands. A poll does not report the author of a text; the host's log does. An
 * editor whom the log does not name is treated as the author.
 */
async function verdictByHistory(
  intake: Intake,
  issue: HostIssue,
  { self, history }: { self: string; history: HostHistory },
): Promise<TextVerdict> {
  const { enqueuedBy, title, body } = textEditors(history);
  const isTrusted = async (editor: { login: string | null } | null) =>
    editor === null || (await isWriter(intake, editor.login ?? issue.author, self));
  const [isTitle, isBody] = [await isTrusted(title), await isTrusted(body)];
  const untrusted = isTitle ? body : title;
  const changedBy = isTitle && isBody ? null : (untrusted?.login ?? issue.author);
  return { title: isTitle, body: isBody, acceptedBy: body?.login ?? title?.login ?? enqueuedBy, changedBy };
}

async function isWriter({ host, repo }: Intake, login: string | null, self: string): Promise<boolean> {
  if (login === null) return false;
  if (login === self) return true;
  const permission = await host.permissionOf(repo, login);
  return permission === 'admin' || permission === 'write';
}

/**
 * Reads from the host the issues without a record that a text newly names, before the transaction that applies the
 * text. One request for each, none for a text that names none. If the host does not answer they count as open; the
 * parent watch reads them again.
 * @param before the previous text; null = all of it is new.
 */
async function readHostStates(intake: Intake, issue: HostIssue, before: string | null): Promise<HostStates> {
  const { engine, repo, host } = intake;
  const home = { repo, number: issue.number, url: issue.url };
  const named = before === null ? dependenciesIn(issue.body, home) : dependencyChanges(before, issue.body, home).added;
  if (named.length === 0) return NO_HOST_STATES;
  const db = engine.store.tenant;
  const repos = await repoIdsByKey(
    db,
    repo.tenant_id,
    named.map((each) => each.repo),
  );
  const states = new Map<string, 'closed' | 'missing'>();
  for (const parent of named) {
    const repoId = repos.get(slugKey(parent.repo));
    if (repoId === undefined || (await findIssue(db, repo.tenant_id, repoId, parent.number))) continue;
    const found = await host.standingOf(parent.repo, parent.number).catch(() => null);
    if (found && found.state !== 'open') states.set(hostStateKey(parent), found.state);
  }
  return states;
}
