import { appendFile, mkdir, mkdtemp, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { LOG_LEVELS, type LogLevel } from '@pipeline/runtime';
import fc from 'fast-check';
import { FoldedText, LogFilter, type LogQuery } from '../../src/logs/log-filter.ts';
import { LogIndex } from '../../src/logs/log-index.ts';
import { searchLogs } from '../../src/logs/log-search.ts';
import { Needle } from '../../src/logs/needle.ts';

describe('the search of logs', () => {
  let dir: string;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'logs-'));
  });
  afterEach(() => rm(dir, { recursive: true }));

  const ANY: LogQuery = { agent: null, level: null, issue: null, since: null, search: null };
  const START = Date.parse('2026-03-01T12:00:00.000Z');
  const at = (seconds: number) => new Date(START + seconds * 1000).toISOString();
  const line = (seconds: number, msg: string, more: Record<string, unknown> = {}) =>
    `${JSON.stringify({ timestamp: at(seconds), level: 'info', msg, agent: 'x', ...more })}\n`;
  const put = (name: string, ...lines: string[]) => writeFile(join(dir, name), lines.join(''));

  const search = async (query: Partial<LogQuery> = {}, page = { limit: 100, offset: 0 }, index = new LogIndex(dir)) => {
    const { entries, total } = await searchLogs(index, { ...ANY, ...query }, page, new AbortController().signal);
    return { msgs: entries.map(({ msg }) => msg), total, entries };
  };

  describe('a search', () => {
    test('merges all files, newest first', async () => {
      await put('monitor.log', line(1, 'a'), line(4, 'd'));
      await put('hosted-api.log', line(2, 'b'), line(3, 'c'));
      const { msgs, total, entries } = await search();
      expect([msgs, total]).toEqual([['d', 'c', 'b', 'a'], 4]);
      expect(entries.map(({ agent }) => agent)).toEqual(['monitor', 'hosted-api', 'hosted-api', 'monitor']);
    });

    test('the later line of two entries with one timestamp is the newer one', async () => {
      await put('monitor.log', line(1, 'first'), line(1, 'second'));
      expect((await search()).msgs).toEqual(['second', 'first']);
    });

    test('gives the right page at any offset of a long log', async () => {
      const all = Array.from({ length: 40_000 }, (_, n) => line(n / 7, `line ${n}`, { filler: 'x'.repeat(80) }));
      for (const [k, name] of ['monitor.log', 'hosted-api.log', 'worker.log'].entries()) {
        await put(name, ...all.filter((_, n) => n % 3 === k));
      }
      for (const offset of [0, 9_999, 20_000, 33_333, 39_998, 40_000, 200_000, 2_000_000_000]) {
        const { msgs, total } = await search({}, { limit: 3, offset });
        const expected = [1, 2, 3].map((k) => 40_000 - offset - k).filter((n) => n >= 0);
        expect([total, msgs]).toEqual([40_000, expected.map((n) => `line ${n}`)]);
      }
    });

    test('reads what rotation left, gzipped or not, under the name of the agent', async () => {
      await put('monitor.log', line(9, 'newest'));
      await put('monitor1.log', line(8, 'by our logger'));
      await put('monitor.log.1', line(7, 'by logrotate'));
      await put('monitor.log-20260301', line(6, 'by date'));
      await writeFile(join(dir, 'monitor.log.2.gz'), gzipSync(line(5, 'zipped') + line(4, 'zipped too')));
      await put('worker-1.log', line(3, 'its own name'));
      const { msgs } = await search({ agent: 'monitor' });
      expect(msgs).toEqual(['newest', 'by our logger', 'by logrotate', 'by date', 'zipped', 'zipped too']);
      expect((await search({ agent: 'worker-1' })).msgs).toEqual(['its own name']);
      expect((await search({ agent: '../monitor' })).total).toBe(0);
    });

    test('a folder that is missing, or a file in its place, gives nothing', async () => {
      const nowhere = { limit: 10, offset: 0 };
      expect((await search({}, nowhere, new LogIndex(join(dir, 'missing')))).total).toBe(0);
      await put('monitor.log', line(1, 'x'));
      expect((await search({}, nowhere, new LogIndex(join(dir, 'monitor.log')))).total).toBe(0);
      await mkdir(join(dir, 'folder.log'));
      expect((await search()).total).toBe(1);
    });

    test('passes over what is no entry: other output, a line cut off, one that is being written', async () => {
      await put('monitor.log', 'listening on 8090\n', line(1, 'good'), '\n', line(2, 'cut off').slice(0, -8), '\n');
      await appendFile(join(dir, 'monitor.log'), line(3, 'half').trimEnd());
      expect(await search()).toMatchObject({ msgs: ['good'], total: 1 });
      await appendFile(join(dir, 'monitor.log'), '\n');
      expect(await search()).toMatchObject({ msgs: ['half', 'good'], total: 2 });
    });

    test('understands other loggers', async () => {
      await put(
        'agent.log',
        `${JSON.stringify({ level: 'WARNING', time: START, message: 'theirs', pid: 7, task: 't' })}\n`,
        `${JSON.stringify({ msg: 'late', level: 'trace', timestamp: '2026-03-01T14:00:05+02:00' })}\n`,
      );
      expect((await search()).entries).toEqual([
        { timestamp: at(5), level: 'debug', msg: 'late', agent: 'agent', context: {} },
        { timestamp: at(0), level: 'warn', msg: 'theirs', agent: 'agent', context: { task: 't' } },
      ]);
    });

    test('matches the issue as number or text, and not a longer one', async () => {
      await put('a.log', line(1, 'n', { issue: 7 }), line(2, 't', { issue: '7' }), line(3, 'no', { issue: 77 }));
      await put('b.log', line(4, 'says "issue":7'), line(5, 'deeper', { task: { issue: 7 } }));
      expect((await search({ issue: '7' })).msgs).toEqual(['t', 'n']);
    });

    test.each(['İstanbul', 'naïve ÉTÉ', 'a "quoted" \\ back', 'tab\there', '$^*[x](y)', '🙂 ok', '\n'])(
      'finds %j whatever its case and its spelling in JSON',
      async (text) => {
        await put('a.log', line(1, `before ${text} after`), line(2, 'nothing of the kind'));
        expect((await search({ search: text })).msgs).toEqual([`before ${text} after`]);
        const plain = text.replace(/[a-z]+/gi, (word) => word.toUpperCase());
        expect((await search({ search: plain })).total).toBe(1);
      },
    );

    test('does not find what stands in other fields than the message', async () => {
      await put('a.log', line(1, 'plain', { detail: 'secret word' }));
      expect((await search({ search: 'word' })).total).toBe(0);
    });

    test('ends when its caller has gone', async () => {
      await put('a.log', line(1, 'x'));
      const gone = AbortSignal.abort(new Error('gone'));
      await expect(searchLogs(new LogIndex(dir), ANY, { limit: 1, offset: 0 }, gone)).rejects.toThrow('gone');
    });
  });

  describe('a needle', () => {
    const plain = fc.string({ unit: fc.constantFrom(...'aAbBzZkK1-" {'), minLength: 1, maxLength: 6 });

    test('finds a needle in the lines that have it, in any spelling', () => {
      fc.assert(
        fc.property(plain, fc.array(plain, { maxLength: 8 }), (text, lines) => {
          const bytes = Buffer.from(lines.map((one) => `${one}\n`).join(''));
          const found = [...new Needle(text).lines(bytes)].sort((a, b) => a - b);
          const starts = lines.map((_, n) => lines.slice(0, n).join('\n').length + Math.min(n, 1));
          expect(found).toEqual(starts.filter((_, n) => lines[n]?.toLowerCase().includes(text.toLowerCase())));
        }),
        { numRuns: 500 },
      );
    });
  });

  describe('the index', () => {
    test('follows a file that grows, is rotated, is emptied and is removed', async () => {
      const index = new LogIndex(dir);
      const page = { limit: 10, offset: 0 };
      const now = async () => (await search({}, page, index)).msgs;
      await put('a.log', line(1, 'one'));
      expect(await now()).toEqual(['one']);
      await appendFile(join(dir, 'a.log'), line(2, 'two'));
      expect(await now()).toEqual(['two', 'one']);
      await rename(join(dir, 'a.log'), join(dir, 'a1.log'));
      await put('a.log', line(3, 'three'));
      expect(await now()).toEqual(['three', 'two', 'one']);
      expect((await search({ agent: 'a' }, page, index)).total).toBe(3);
      await truncate(join(dir, 'a.log'));
      await appendFile(join(dir, 'a.log'), line(4, '4'));
      expect(await now()).toEqual(['4', 'two', 'one']);
      await rm(join(dir, 'a1.log'));
      expect(await now()).toEqual(['4']);
    });

    test('the index is exact over many blocks, also with lines out of order and lines longer than a block', async () => {
      const long = 'y'.repeat(1_500_000);
      const lines = Array.from({ length: 12_000 }, (_, n) => line((n * 7919) % 12_000, `m${n} ${'x'.repeat(250)}`));
      lines.splice(5_000, 0, line(20_000, long));
      await put('a.log', ...lines);
      const all = await search({}, { limit: 3, offset: 0 });
      expect([all.total, all.msgs[0]?.length]).toEqual([12_001, 1_500_000]);
      expect(all.entries.slice(1).map(({ timestamp }) => timestamp)).toEqual([at(11_999), at(11_998)]);
      expect((await search({ since: at(11_000) }, { limit: 1, offset: 500 })).total).toBe(1_001);
      expect((await search({ search: 'm777 ' }, { limit: 1, offset: 0 })).total).toBe(1);
    });
  });

  describe('any search of any logs', () => {
    const entry = fc.record({
      seconds: fc.nat(50),
      level: fc.constantFrom(...LOG_LEVELS),
      msg: fc.constantFrom('alpha', 'Beta', 'alphabet', 'ALPHA', 'no 12-5 bETa', ''),
      issue: fc.option(fc.constantFrom(7, '7', 70)),
    });
    const files = fc.array(
      fc.record({ name: fc.constantFrom('a', 'b'), gzipped: fc.boolean(), entries: fc.array(entry, { maxLength: 8 }) }),
      { maxLength: 4 },
    );
    const query = fc.record({
      agent: fc.option(fc.constantFrom('a', 'b', 'c')),
      level: fc.option(fc.constantFrom(...LOG_LEVELS)),
      issue: fc.option(fc.constantFrom('7', '70')),
      since: fc.option(fc.nat(50).map(at)),
      search: fc.option(fc.constantFrom('alpha', 'bet', 'BETA', '2-5 B', '12', '')),
    });
    const page = fc.record({ limit: fc.integer({ min: 1, max: 5 }), offset: fc.nat(6) });

    test('finds what a plain filter over all entries finds', async () => {
      await fc.assert(
        fc.asyncProperty(files, query, page, async (written, wanted, { limit, offset }) => {
          await rm(dir, { recursive: true });
          await mkdir(dir);
          for (const [n, { name, gzipped, entries }] of written.entries()) {
            const text = entries.map(({ seconds, msg, ...more }) => line(seconds, msg, more)).join('');
            const file = join(dir, `${name}.log.${n}${gzipped ? '.gz' : ''}`);
            await writeFile(file, gzipped ? gzipSync(text) : text);
          }
          const rank = (level: LogLevel) => LOG_LEVELS.indexOf(level);
          const expected = written
            .flatMap(({ name, entries }) => entries.map((one) => ({ name, ...one })))
            .filter(({ name }) => wanted.agent === null || name === wanted.agent)
            .filter(({ level }) => wanted.level === null || rank(level) <= rank(wanted.level))
            .filter(({ issue }) => wanted.issue === null || String(issue) === wanted.issue)
            .filter(({ seconds }) => wanted.since === null || at(seconds) >= wanted.since)
            .filter(({ msg }) => msg.toLowerCase().includes((wanted.search ?? '').toLowerCase()))
            .map(({ seconds }) => at(seconds))
            .sort()
            .reverse();
          const found = await search(wanted, { limit, offset });
          expect(found.total).toBe(expected.length);
          expect(found.entries.map(({ timestamp }) => timestamp)).toEqual(expected.slice(offset, offset + limit));
        }),
        { numRuns: 150 },
      );
    });
  });
});

describe('folded text', () => {
  describe('a text without regard to case', () => {
    const unit = fc.constantFrom('a', 'A', 'b', 'é', 'É', 'ß', 'ı', 'K', 'ſ', '.', '\ud83d');
    const text = (maxLength: number) => fc.string({ unit, maxLength });

    test('finds a text exactly when a regular expression finds it', () => {
      fc.assert(
        fc.property(text(5), text(30), (needle, haystack) => {
          expect(new FoldedText(needle).isIn(haystack)).toBe(new RegExp(RegExp.escape(needle), 'i').test(haystack));
        }),
        { numRuns: 2_000 },
      );
    });
  });

  describe('a search of the logs', () => {
    const MIB = 1_048_576;
    const query = { agent: null, level: null, issue: null, since: null };
    const lineOf = (msg: string) =>
      Buffer.from(`${JSON.stringify({ timestamp: '2026-03-01T12:00:00.000Z', level: 'info', msg })}\n`);

    test.each([
      [`${'a'.repeat(999)}b`, 'a'],
      [`b${'a'.repeat(999)}`, 'a'],
      [`${'ab'.repeat(499)}aa`, 'ab'],
      [`${'é'.repeat(500)}x`, 'é'],
      [`${'a '.repeat(400)}"`, 'a '],
    ])('costs under 100 ms of CPU for 1 MiB of repetitions of %s', (search, part) => {
      const bytes = lineOf(part.repeat(MIB / part.length));
      const filter = new LogFilter({ ...query, search });
      const costs = [0, 1, 2].map(() => {
        const before = process.cpuUsage();
        expect(filter.hits(bytes)).toEqual([]);
        const { user, system } = process.cpuUsage(before);
        return (user + system) / 1_000;
      });
      expect(Math.min(...costs)).toBeLessThan(100);
    });
  });
});
