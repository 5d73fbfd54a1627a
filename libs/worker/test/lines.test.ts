import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { splitLines } from '../src/exec/output.ts';

function split(chunks: Buffer[], maxBytes: number): string[] {
  const lines: string[] = [];
  const splitter = splitLines(
    { onLine: (line) => lines.push(line), onTooLong: (start, bytes) => lines.push(`${bytes}:${start}`) },
    maxBytes,
  );
  for (const chunk of chunks) splitter.push(chunk);
  splitter.end();
  return lines;
}

test('however the bytes are cut, the lines are the same: no character torn, no blank line, none over the bound', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'é', '😀', '\n', '\r\n', ' ') });
  fc.assert(
    fc.property(text, fc.array(fc.nat(40)), (given, cuts) => {
      const bytes = Buffer.from(given);
      const places = [0, ...cuts.filter((cut) => cut < bytes.length).sort((a, b) => a - b), bytes.length];
      const chunks = places.slice(1).map((place, index) => bytes.subarray(places[index], place));
      const whole = given.split('\n').filter((line) => line !== '');
      const expected = whole.map((line) =>
        Buffer.byteLength(line) > 12 ? `${Buffer.byteLength(line)}:${line}` : line.replace(/\r$/, ''),
      );
      const kept = split(chunks, 12).map((line) => line.replace(/^(\d+:).*/s, '$1'));
      expect(kept).toEqual(expected.map((line) => line.replace(/^(\d+:).*/s, '$1')));
    }),
  );
});

test('holds only as much of a line as the bound allows', () => {
  const [line] = split(
    Array.from({ length: 100 }, () => Buffer.alloc(1_000, 'x')),
    2_000,
  );
  expect(line).toBe(`100000:${'x'.repeat(1_000)}`);
});
