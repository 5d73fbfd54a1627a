import { BLOCK_REASONS, type BlockReason } from '../blocks.ts';
import type { ErrorClass } from '../error-classes.ts';
import type { TaskType } from '../task-types.ts';

/** Repetitions of one error after which a retry is pointless (interface: "repeated same fingerprint"). */
const REPEATED_FINGERPRINT = 3;

/**
 * Two patterns (flag g), the second at most `within` characters after the first. One pattern with a gap would not be
 * linear.
 */
interface Near {
  first: RegExp;
  second: RegExp;
  within: number;
  /** Default: both on one line. */
  acrossLines?: true;
}

interface Sign {
  pattern: RegExp | Near;
  reason: BlockReason;
  /** Task types for which the pattern has this meaning; absent = all. */
  only?: readonly TaskType[];
}

/**
 * Patterns of error messages, first match wins. Test output comes first: "expected 429, received 200" is a failing
 * test, not a limit. A bare number never matches, a status needs its name beside it. A rate limit comes before a
 * refusal because hosts answer both with 403.
 */
const SIGNS: readonly Sign[] = [
  { pattern: /\bAssertionError\b|\btests? failed\b|\bfailing tests?\b/i, reason: 'test_failure' },
  {
    pattern: { first: /\bexpected: /gi, second: /\breceived: /gi, within: 200, acrossLines: true },
    reason: 'test_failure',
  },
  {
    pattern: {
      first: /\bexpected\b/gi,
      second: /\bto (?:be|deeply|equal|have|match)\b/gi,
      within: 80,
      acrossLines: true,
    },
    reason: 'test_failure',
  },
  { pattern: /\bfor a (?:test|hook)\b/i, reason: 'test_failure' },
  {
    pattern: { first: /\bbudget\b/gi, second: /\b(?:exceeded|exhausted|used up|reached)\b/gi, within: 40 },
    reason: 'budget_exceeded',
  },
  { pattern: /\bBUDGET_EXCEEDED\b/i, reason: 'budget_exceeded' },
  {
    pattern: /\b(?:http(?:\/[\d.]+)?|status(?: code)?)[ :=]{1,3}429\b|\btoo many requests\b/i,
    reason: 'quota_exceeded',
  },
  {
    pattern: /\brate[ _-]limited\b|\brate[ _-]?limits?_error\b/i,
    reason: 'quota_exceeded',
  },
  {
    pattern: { first: /\brate[ _-]?limits?\b/gi, second: /\b(?:exceeded|reached|hit)\b/gi, within: 20 },
    reason: 'quota_exceeded',
  },
  {
    pattern: {
      first: /\b(?:quota|usage limit|credits?)\b/gi,
      second: /\b(?:exceeded|exhausted|reached|used up|too low)\b/gi,
      within: 30,
    },
    reason: 'quota_exceeded',
  },
  { pattern: { first: /\bexceeded\b/gi, second: /\bquota\b/gi, within: 30 }, reason: 'quota_exceeded' },
  { pattern: /\binsufficient_quota\b|\bRESOURCE_EXHAUSTED\b|\bsecondary rate limit\b/i, reason: 'quota_exceeded' },
  { pattern: /\bprotected[ _](?:path|file)s?\b/i, reason: 'protected_path' },
  {
    pattern: /\b(?:http(?:\/[\d.]+)?|status(?: code)?)[ :=]{1,3}40[13]\b|\b403 forbidden\b|\b401 unauthorized\b/i,
    reason: 'permission_denied',
  },
  {
    pattern:
      /\b(?:EACCES|EPERM)\b|\b(?:permission denied|not accessible by integration|bad credentials|authentication failed)\b|\binvalid (?:api key|token|credentials)\b/i,
    reason: 'permission_denied',
  },
  {
    pattern: /\binvalid (?:config(?:uration)?|settings?)\b|\bCONFIG_(?:LOAD|VALIDATION)_FAILED\b/i,
    reason: 'invalid_config',
  },
  {
    pattern: /\b(?:http(?:\/[\d.]+)?|status(?: code)?)[ :=]{1,3}5\d\d\b|\b(?:ECONN[A-Z]{3,8}|E(?:NET|HOST)UNREACH)\b/i,
    reason: 'service_unavailable',
  },
  {
    pattern:
      /\b(?:ENOTFOUND|EAI_AGAIN|EPIPE|ETIMEDOUT|bad gateway|service unavailable|gateway time-?out|internal server error|overloaded_error|socket hang up|fetch failed|could not resolve host)\b|\bnetwork (?:error|failure|is unreachable)\b|\bconnection (?:refused|reset|closed|timed out|lost)\b/i,
    reason: 'service_unavailable',
  },
  {
    pattern:
      /\btimed[ -]out\b|\bdeadline exceeded\b|\blease (?:expired|lost)\b|\bworker (?:was )?(?:lost|gone|silent|killed)\b|\bSIGKILL\b/i,
    reason: 'agent_timeout',
  },
  {
    pattern: { first: /\btime-?out\b/gi, second: /\b(?:exceeded|after|reached|of)\b/gi, within: 20 },
    reason: 'agent_timeout',
  },
  {
    pattern: /\bmerge conflicts?\b|\bCONFLICT \(|\bcould not apply\b|\bautomatic merge failed\b/i,
    reason: 'merge_conflict',
  },
  { pattern: /\bconflicts?\b/i, reason: 'merge_conflict', only: ['merge'] },
  { pattern: /\bmax(?:imum)?(?: number of)?[ _-]turns\b|\bturn limit\b/i, reason: 'max_turns' },
  { pattern: /\bno[ _-](?:meaningful )?progress\b|\bstalled\b/i, reason: 'no_progress' },
  { pattern: /\bbuild failed\b|\bcompil\w{1,5} (?:error|failed)\b|\berror TS\d+\b/i, reason: 'build_failure' },
  {
    pattern: {
      first: /\b(?:CI|required checks?|status checks?|check (?:run|suite))\b/gi,
      second: /\bfail/gi,
      within: 30,
    },
    reason: 'ci_hard_failure',
  },
  {
    pattern: { first: /\bchecks?\b/gi, second: /\bfail/gi, within: 30 },
    reason: 'ci_hard_failure',
    only: ['review', 'merge'],
  },
  { pattern: /\brejected\b/i, reason: 'review_rejected', only: ['review'] },
  { pattern: /\b(?:missing|not enough|insufficient) (?:context|information|detail)/i, reason: 'missing_context' },
];

const HEAD_AND_TAIL = 4_000;

/** The cause is at the beginning of an error and at the end of a log; the middle is not read. */
const readable = (message: string): string =>
  message.length <= 2 * HEAD_AND_TAIL
    ? message
    : `${message.slice(0, HEAD_AND_TAIL)}\n${message.slice(-HEAD_AND_TAIL)}`;

const occurs = (text: string, pattern: Sign['pattern']): boolean =>
  pattern instanceof RegExp ? pattern.test(text) : occursNear(text, pattern);

function occursNear(text: string, { first, second, within, acrossLines }: Near): boolean {
  const seconds = Array.from(text.matchAll(second), ({ index }) => index);
  let next = 0;
  for (const { index, 0: found } of text.matchAll(first)) {
    const end = index + found.length;
    while ((seconds[next] ?? Number.POSITIVE_INFINITY) < end) next += 1;
    const start = seconds[next] ?? Number.POSITIVE_INFINITY;
    if (start <= end + within && (acrossLines || !text.slice(end, start).includes('\n'))) return true;
  }
  return false;
}

function reasonIn(message: string, taskType: TaskType | null): BlockReason | null {
  const text = readable(message);
  const applies = (sign: Sign) => !sign.only || (taskType !== null && sign.only.includes(taskType));
  return SIGNS.find((sign) => applies(sign) && occurs(text, sign.pattern))?.reason ?? null;
}

interface ErrorFacts {
  message: string;
  /** The worker's classification of its failure. */
  reported?: ErrorClass | undefined;
  /** Consecutive failures of this issue with this fingerprint, this one included. */
  sameFingerprintCount?: number | undefined;
}

/**
 * The class of a failure. Evidence takes precedence over the worker's report:
 * 1. a pattern of a limit or refusal in the message decides, whatever was reported;
 * 2. a transport problem (network, 5xx, timeout, lost worker) is transient however often it recurs,
 *    unless the worker reports a limit: both mean waiting, and the worker reports for what;
 * 3. the same fingerprint three times is permanent, except for a reported limit, because limits recur;
 * 4. otherwise the worker's report is used, and `unknown` without one.
 */
export function classifyError({ message, reported, sameFingerprintCount = 1 }: ErrorFacts): ErrorClass {
  const reason = reasonIn(message, null);
  const shown = reason ? BLOCK_REASONS[reason].classification : 'unknown';
  if (shown === 'quota' || shown === 'permanent') return shown;
  if (reported === 'quota') return 'quota';
  if (shown === 'transient') return 'transient';
  if (sameFingerprintCount >= REPEATED_FINGERPRINT) return 'permanent';
  return reported ?? 'unknown';
}

interface BlockFacts {
  message: string;
  taskType: TaskType;
  errorClass: ErrorClass;
}

/**
 * The block reason for a failure. A message without a known pattern gets the reason of its class where one is specific
 * enough.
 */
export function blockReasonOf({ message, taskType, errorClass }: BlockFacts): BlockReason {
  return reasonIn(message, taskType) ?? (errorClass === 'quota' ? 'quota_exceeded' : 'unknown');
}
