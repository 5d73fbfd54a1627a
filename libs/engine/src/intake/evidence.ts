import {
  compareStamps,
  dependenciesIn,
  dependencyChanges,
  ENQUEUE_LABEL,
  type HistoryEvent,
  type HostHistory,
  type HostIssue,
  PAUSED_LABEL,
  requestersIn,
  sameText,
  slugKey,
  textEditors,
  textHash,
} from '@pipeline/domain';
import { findIssue, type HostFactsRow, hostFactsOf, repoIdsByKey } from '@pipeline/store';
import type { Intake } from '../repos/repo-address.ts';
import { type HostStates, hostStateKey, NO_HOST_STATES } from '../workflow/text-dependencies.ts';
import { firstFacts, type IssueEvent, labelsAfter } from './host-facts.ts';
import { mayActAsPerson } from './person.ts';
import type { TextVerdict } from './text-changes.ts';

/** Host data that was read before the transaction in which an event is applied. */
export interface Evidence {
  /** Login of the pipeline's own identity. */
  self: string;
  /** True = a person uses that identity too. */
  isPerson: boolean;
  /** null = not needed, as far as was known before the transaction. */
  history: HostHistory | null;
  /** Logins of the history whose requests count. */
  requesters: ReadonlySet<string>;
  /** Account that paused or resumed the issue by its label; null = none, as far as was known. */
  pause: { by: string | null; isAllowed: boolean } | null;
  /** null = the current text is the stored one. */
  text: TextVerdict | null;
  /** The host state of the issues that the text newly names. */
  hostStates: HostStates;
}

type Known = NonNullable<Awaited<ReturnType<typeof findIssue>>>;

const NO_EVIDENCE = {
  history: null,
  requesters: new Set<string>(),
  pause: null,
  text: null,
  hostStates: NO_HOST_STATES,
};

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
  const known = await findIssue(engine.store.db, repo.tenant_id, repo.id, issue.number);
  if (!known) return { isPerson, ...(await admissionEvidence(intake, event, self)) };
  const differs = !sameText(issue, known);
  const facts = (await hostFactsOf(engine.store.db, repo.tenant_id, known.id)) ?? firstFacts(known);
  const pauses = changesPause(event, known, facts);
  if (!differs && !pauses && known.state !== 'done') return { self, isPerson, ...NO_EVIDENCE };
  const needed = known.state === 'done' ? mayBeRequest(event, facts) : differs && needsEditor(event, facts);
  const history = needed || (pauses && !namesPauser(event)) ? await historyOf(intake, issue.number) : null;
  const around = { self, history, known, facts };
  const requesters = await requestersOf(intake, around);
  const pause = pauses ? await pauseBy(intake, event, around) : null;
  const text = differs ? await verdictOn(intake, event, around) : null;
  const hostStates = await hostStatesOf(intake, issue, { known, text });
  return { self, isPerson, history, requesters, pause, text, hostStates };
}

async function hostStatesOf(
  intake: Intake,
  issue: HostIssue,
  { known, text }: Pick<Around, 'known'> & Pick<Evidence, 'text'>,
) {
  const isDone = known.state === 'done';
  if (issue.state !== 'open' || !(text?.body || isDone)) return NO_HOST_STATES;
  return readHostStates(intake, issue, isDone ? null : known.body);
}

async function admissionEvidence(intake: Intake, event: IssueEvent, self: string): Promise<Omit<Evidence, 'isPerson'>> {
  if (!wantsIn(event.issue)) return { self, ...NO_EVIDENCE };
  const text = await verdictOnNew(intake, event, self);
  const hostStates = text.title && text.body ? await readHostStates(intake, event.issue, null) : NO_HOST_STATES;
  return { self, ...NO_EVIDENCE, text, hostStates };
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

/** Returns whether the label of an open issue pauses or resumes it. */
export const changesPause = (event: IssueEvent, known: Pausable, facts: HostFactsRow): boolean =>
  known.state !== 'done' &&
  event.issue.state === 'open' &&
  labelsAfter(known, event, facts).includes(PAUSED_LABEL) !== known.is_paused;

type Pausable = Pick<Known, 'state' | 'is_paused' | 'labels'>;

/** Returns whether the sender of the event changed the label for a pause; a poll reports no sender. */
const namesPauser = ({ action, label }: IssueEvent): boolean =>
  (action === 'labeled' || action === 'unlabeled') && label === PAUSED_LABEL;

async function pauseBy(intake: Intake, event: IssueEvent, { self, history, known }: Omit<Around, 'facts'>) {
  const isPause = ({ kind, label }: HistoryEvent) =>
    (kind === 'labeled' || kind === 'unlabeled') && label === PAUSED_LABEL;
  const by = namesPauser(event) ? event.sender : (history?.events.findLast(isPause)?.actor ?? null);
  return { by, isAllowed: await isWriter(intake, by, { self, known }) };
}

/** The accounts whose requests to work on an issue that is done count. */
async function requestersOf(intake: Intake, { history, known, facts }: Around): Promise<Set<string>> {
  const allowed = new Set<string>();
  if (history === null || known.state !== 'done') return allowed;
  const acted = { at: facts.acted_at, eventId: facts.acted_event_id };
  for (const login of requestersIn(history.events, acted)) {
    if (await mayActAsPerson(intake, login, { issue: known })) allowed.add(login);
  }
  return allowed;
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
  const mayWrite = () => isWriter(intake, sender, around);
  if (isEnqueue(event)) return (await mayWrite()) ? accepted(sender) : refused(sender);
  if (action === 'edited') {
    const { changed = [] } = event;
    if (!(await mayWrite())) return refused(sender);
    return { title: changed.includes('title'), body: changed.includes('body'), acceptedBy: sender, changedBy: null };
  }
  if (action !== 'seen') return refused(null);
  if (!around.history) return refused(around.facts.changed_by);
  return verdictByHistory(intake, issue, { ...around, history: around.history });
}

const accepted = (by: string | null): TextVerdict => ({ title: true, body: true, acceptedBy: by, changedBy: null });
const refused = (by: string | null): TextVerdict => ({ title: false, body: false, acceptedBy: null, changedBy: by });
const notEnqueued = (by: string | null): TextVerdict => ({ ...refused(by), isStrayLabel: true });

/**
 * Judges the text of an issue without a record. The label for intake enqueues the text at that time; later changes by
 * an account without write permission are not enqueued.
 */
async function verdictOnNew(intake: Intake, event: IssueEvent, self: string): Promise<TextVerdict> {
  const { issue, sender } = event;
  const mayWrite = (login: string | null) => isWriter(intake, login, { self, known: null });
  if (event.action === 'opened' || isEnqueue(event)) {
    return (await mayWrite(sender)) ? accepted(sender) : notEnqueued(sender);
  }
  const history = await historyOf(intake, issue.number);
  const { enqueuedBy, reopenedBy } = textEditors(history);
  for (const login of [enqueuedBy ?? issue.author, ...(reopenedBy ? [reopenedBy.login] : [])]) {
    if (!(await mayWrite(login))) return notEnqueued(login);
  }
  if (await mayWrite(issue.author)) return accepted(issue.author);
  return verdictByHistory(intake, issue, { self, known: null, history });
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
  { self, known, history }: Asked & { history: HostHistory },
): Promise<TextVerdict> {
  const { enqueuedBy, title, body } = textEditors(history);
  const isTrusted = async (editor: { login: string | null } | null) =>
    editor === null || (await isWriter(intake, editor.login ?? issue.author, { self, known }));
  const [isTitle, isBody] = [await isTrusted(title), await isTrusted(body)];
  const untrusted = isTitle ? body : title;
  const changedBy = isTitle && isBody ? null : (untrusted?.login ?? issue.author);
  return { title: isTitle, body: isBody, acceptedBy: body?.login ?? title?.login ?? enqueuedBy, changedBy };
}

interface Asked {
  self: string;
  /** The issue that the account acts on; null = one without a record. */
  known: Known | null;
}

/** Texts and labels of the pipeline itself count as well. */
const isWriter = async (intake: Intake, login: string | null, { self, known }: Asked): Promise<boolean> =>
  login === self || mayActAsPerson(intake, login, { issue: known });

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
  const db = engine.store.db;
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
