import { textTail } from '../text/pattern.ts';

/** A check of a commit as the host reports it: a check run or a commit status. */
export interface HostCheck {
  kind: 'check-run' | 'status';
  /** Name of the run, or context of the status; what protection requires by name. */
  name: string;
  /** `pending` also without a verdict about the code: cancelled, stale, or an action of a person is required. */
  state: CheckState;
  /** Result as the host reports it; null while it runs. */
  conclusion: string | null;
  url: string | null;
  /** Id of the check run or status on the host. */
  hostId: number;
  /** Id of the suite of a check run: runs of one name in two suites are two checks. Absent = a status. */
  suiteId?: number;
  /** The host's time of the last change, ISO 8601. */
  at: string;
}

/** A check with the last lines of its log, where it failed and they were read. */
export interface ReportedCheck extends HostCheck {
  logTail?: string | null;
}

export const CHECK_STATES = ['pending', 'success', 'failure'] as const;
export type CheckState = (typeof CHECK_STATES)[number];

export const MERGE_METHODS = ['squash', 'merge', 'rebase'] as const;
export type MergeMethod = (typeof MERGE_METHODS)[number];

export type ReviewGate = 'app' | 'any' | 'none';

/** Rules of the host for a merge into a branch. */
export interface MergeRules {
  /** Names of the required checks, from branch protection and rulesets, without the status of the review. */
  requiredChecks: string[];
  /** The source of the status of the review that the branch requires: the app of the pipeline alone, any, or none. */
  reviewGate: ReviewGate;
  /** Allowed ways of merging, at least one. */
  methods: MergeMethod[];
}

/**
 * Policies that select the checks that must be green before a merge.
 * - required: those that the branch requires; without any, all checks of the head.
 * - all: those that the branch requires and all others of the head.
 * - none: as required, but a head without any check is merged.
 */
export const CHECK_POLICIES = ['required', 'all', 'none'] as const;
export type CheckPolicy = (typeof CHECK_POLICIES)[number];

export interface ChecksVerdict {
  /** missing = no check at all, and no operator allowed a merge without one. */
  verdict: 'green' | 'pending' | 'red' | 'missing';
  /** Names that are not green yet, in alphabetical order. */
  waitsFor: string[];
  failed: HostCheck[];
}

/** Context of the commit status with which the pipeline reports the verdict of its review. */
export const REVIEW_CONTEXT = 'svc/review';

/** The status that the pipeline sets itself says nothing about the commit. */
const isOwn = ({ kind, name }: HostCheck): boolean => kind === 'status' && name === REVIEW_CONTEXT;

/** Checks of others, the newest of each kind, suite and name. */
export function othersChecks(checks: readonly HostCheck[]): HostCheck[] {
  const newest = new Map<string, HostCheck>();
  for (const check of checks) {
    const key = `${check.kind} ${check.suiteId ?? 0} ${check.name}`;
    const known = newest.get(key);
    if (isOwn(check) || (known && known.hostId > check.hostId)) continue;
    newest.set(key, check);
  }
  return [...newest.values()];
}

/** The name of a check with its conclusion if it ended without a verdict: `build (cancelled)`. */
const waitingName = ({ name, conclusion }: HostCheck): string =>
  conclusion === null ? name : `${name} (${conclusion})`;

/**
 * Judges whether a head may be merged. A pure function. One red check that counts makes it red, whatever still runs.
 * @param isAllowed whether an operator allowed this head to be merged without any check.
 */
export function judgeChecks(
  checks: readonly HostCheck[],
  { required, policy, isAllowed }: { required: readonly string[]; policy: CheckPolicy; isAllowed: boolean },
): ChecksVerdict {
  const known = othersChecks(checks);
  const counting =
    policy === 'all' || required.length === 0 ? known : known.filter(({ name }) => required.includes(name));
  const failed = counting.filter(({ state }) => state === 'failure');
  const absent = required.filter((name) => !known.some((check) => check.name === name));
  const running = counting.filter(({ state }) => state === 'pending').map(waitingName);
  const waitsFor = [...new Set([...absent, ...running])].sort();
  if (failed.length > 0) return { verdict: 'red', waitsFor, failed };
  if (waitsFor.length > 0) return { verdict: 'pending', waitsFor, failed };
  const isMissing = counting.length === 0 && policy !== 'none' && !isAllowed;
  return { verdict: isMissing ? 'missing' : 'green', waitsFor, failed };
}

/** The way of merging: the configured one if the host allows it, else the first allowed one that keeps one commit. */
export const mergeMethodOf = (preferred: MergeMethod, allowed: readonly MergeMethod[]): MergeMethod =>
  [preferred, ...MERGE_METHODS].find((method) => allowed.includes(method)) ?? preferred;

/** Wait of an issue in merge-pending, as it is stored and shown. */
export interface ChecksWait {
  /** The head that it is about. */
  sha: string;
  /**
   * train = for the pull request of `waitsFor`, which is merged before it; queue = for the merge queue of the host;
   * draft = for a person who marks the pull request as ready for review.
   */
  verdict: 'pending' | 'missing' | 'train' | 'queue' | 'draft';
  /** Names of checks; for `train` the pull request, `#12`; none for `queue` and `draft`. */
  waitsFor: string[];
  /** Results that the host was asked to replace by another run, by `resultKey`. Empty = it runs none again. */
  rerun?: string[];
}

/** Heads of an issue on which one check is red before its next result is taken as lasting. */
export const MAX_RED_HEADS = 3;

/** Identity of one result of a check: another run of it has another id or another time. */
export const resultKey = ({ hostId, at }: HostCheck): string => `${hostId} ${at}`;

const MAX_NAMED = 10;

/** `build, lint and 3 more`. */
export function namedChecks(names: readonly string[]): string {
  const shown = names.slice(0, MAX_NAMED).join(', ');
  return names.length > MAX_NAMED ? `${shown} and ${names.length - MAX_NAMED} more` : shown;
}

/** Characters of a failing job's log that an agent gets: its last ones. */
export const MAX_LOG_TAIL = 4_000;

/** The last lines of a log, at most MAX_LOG_TAIL characters; the first line may be cut off as a whole. */
export function logTail(text: string): string {
  const trimmed = text.trimEnd();
  if (trimmed.length <= MAX_LOG_TAIL) return trimmed;
  const tail = textTail(trimmed, MAX_LOG_TAIL);
  const start = tail.indexOf('\n');
  return start < 0 ? tail : tail.slice(start + 1);
}
