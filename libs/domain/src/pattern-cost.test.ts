/**
 * The cost of reading external text: a quarter of a MiB of any text costs at most a fixed multiple of one plain pass over it, measured
 * in the same process. A pattern that backtracks costs hundreds of passes.
 */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseConsistencyId } from './consistency/finding.ts';
import { linkedIssueNumber, revertedBy } from './intake/pull-requests.ts';
import { dependenciesIn, dependencyChanges, ownWords } from './intake/text-dependencies.ts';
import { brief } from './issues/find-waits.ts';
import { extractAnchors } from './knowledge/anchors.ts';
import { normalizedTitle } from './knowledge/finding.ts';
import { blockReasonOf, classifyError } from './queue/error-classification.ts';
import { normalizeError } from './queue/error-fingerprint.ts';
import { parseIssueRef, parseSlug } from './slugs.ts';
import { nameKey, wordsOf } from './strategy/words.ts';
import { fenced, inertText, quoted } from './text/inert.ts';
import { patternText, withoutTrailing } from './text/pattern.ts';
import { referringBody } from './text/referring-body.ts';
import { TrackName } from './tracks/track.ts';
import { parseDuration, parseSince, parseTimestamp } from './windows.ts';

const SIZE = 262_144;
/** The costliest reader takes about 7 passes on a quiet machine; load doubles the CPU time of some runs. */
const LIMIT_PASSES = 16;
const REPO = { owner: 'acme', name: 'shop' };
const HOME = { repo: REPO, number: 1, url: 'https://github.com/acme/shop/issues/1' };
const NOW = new Date('2026-03-04T05:06:07.890Z');

const READERS: Record<string, (text: string) => unknown> = {
  dependenciesIn: (text) => dependenciesIn(text, HOME),
  dependencyChanges: (text) => dependencyChanges(`${text} `, text, HOME),
  linkedIssueNumber: (text) => linkedIssueNumber({ headRef: text, body: text }, true),
  revertedBy: (text) => revertedBy(text, REPO),
  referringBody: (text) => referringBody(text, 7),
  extractAnchors: (text) => extractAnchors({ title: text, body: text, labels: [text] }),
  normalizeError,
  classifyError: (text) => classifyError({ message: text }),
  blockReasonOf: (text) => blockReasonOf({ message: text, taskType: 'review', errorClass: 'unknown' }),
  inertText: (text) => inertText(text, 6_000),
  quoted: (text) => quoted(text, 6_000),
  fenced: (text) => fenced(text, 1_000),
  brief,
  patternText: (text) => patternText(text),
  withoutTrailing: (text) => withoutTrailing(text, ' \n/.='),
  normalizedTitle,
  nameKey,
  wordsOf: (text) => wordsOf(text),
  parseSlug: (text) => [parseSlug(text), parseSlug(`${text}/${text}`)],
  parseIssueRef: (text) => parseIssueRef(text, REPO),
  parseConsistencyId: (text) => [parseConsistencyId(text), parseConsistencyId(`orphan:${text}`)],
  parseSince: (text) => [parseSince(text, NOW), parseTimestamp(text), parseDuration(text)],
  TrackName: (text) => TrackName.safeParse(text),
};

/** Fragments that the patterns match, and that cause them to backtrack. */
const FRAGMENTS = [
  ...' \t\n\r/#.-_:*`\'"<>()[]{}|~!@&+=,;\\0aAé‘“\u2028',
  'depends on',
  'depends on ',
  'blocked by: ',
  '#12',
  '#1, ',
  'and ',
  'issue ',
  'acme/shop#1 ',
  'acme/',
  'https://',
  'https://github.com/acme/shop/issues/',
  '- [ ] ',
  '- [ ] #12 ',
  '1. ',
  '```',
  '<!--',
  '-->',
  '> ',
  '    ',
  'fix',
  'fixes ',
  'fix : ',
  'reverts ',
  'this reverts commit ',
  '0123456789abcdef',
  'expected: ',
  'expected ',
  'to be ',
  'received: ',
  'budget ',
  'quota ',
  'exceeded ',
  'rate limit ',
  'timeout ',
  'check ',
  'fail',
  'compil',
  'status code',
  '2026-01-02T',
  'a.b/',
  'aB',
  'a_',
  'C:\\',
  '1.',
  'not ',
  'no longer ',
];

/** CPU milliseconds of the fastest run, `enough` or less after one of them: other load on the machine only adds time. */
function cpuMs(work: () => unknown, enough: number): number {
  let least = Number.POSITIVE_INFINITY;
  for (let run = 0; run < 8 && least > enough; run += 1) {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1_000);
  }
  return least;
}

const filled = (part: string): string => part.repeat(Math.ceil(SIZE / part.length)).slice(0, SIZE);

const PLAIN = filled('depends on #12 ');

/** Milliseconds of one plain pass now. */
const passMs = (): number =>
  cpuMs(() => {
    let lines = 0;
    for (const character of PLAIN) if (character === '\n') lines += 1;
    return lines;
  }, 0);
const PASS_MS = passMs();

/**
 * Measures the cost of work in plain passes. Machines become slower for minutes: work above the limit is measured
 * beside a pass of its time.
 */
function passesOf(work: () => unknown): number {
  const ms = cpuMs(work, LIMIT_PASSES * PASS_MS);
  if (ms <= LIMIT_PASSES * PASS_MS) return ms / PASS_MS;
  const now = passMs();
  return cpuMs(work, LIMIT_PASSES * now) / now;
}

describe.each(Object.entries(READERS))('%s', (_name, read) => {
  test('costs a few passes for a long text of any fragment, alone and behind a beginning', () => {
    const slow: [string, number][] = [];
    for (const fragment of FRAGMENTS) {
      for (const text of [filled(fragment), `depends on${filled(fragment)}x`, `fix${filled(fragment)}`]) {
        const passes = passesOf(() => read(text));
        if (passes > LIMIT_PASSES) slow.push([`${text.slice(0, 24)}…`, passes]);
      }
    }
    expect(slow).toEqual([]);
  });

  test('costs a few passes for a long text of repeated sequences of fragments', () => {
    const sequence = fc.array(fc.constantFrom(...FRAGMENTS), { minLength: 2, maxLength: 6 });
    fc.assert(
      fc.property(sequence, fc.constantFrom('', 'x', '\n', '#1'), (parts, end) => {
        const text = filled(parts.join('')) + end;
        expect(passesOf(() => read(text))).toBeLessThanOrEqual(LIMIT_PASSES);
      }),
      { numRuns: 40 },
    );
  });
});

describe('ownWords', () => {
  test('costs a few passes for any body that the host accepts', () => {
    const slow = FRAGMENTS.filter((fragment) => {
      const body = filled(fragment).slice(0, 65_536);
      return passesOf(() => ownWords(body)) > LIMIT_PASSES;
    });
    expect(slow).toEqual([]);
  });
});
