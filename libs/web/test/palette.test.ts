/** The palette as its tokens are: contrast, and how far the colours of states are apart for eyes of four kinds. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { type Color, converter, differenceCiede2000, wcagContrast } from 'culori';
import { STATE_NAMES } from '../src/states/states.ts';

const CSS = readFileSync(join(import.meta.dirname, '../src/design/tokens.css'), 'utf8');

/** The colours of the block of a selector. */
function tokensOf(selector: string): ReadonlyMap<string, string> {
  const start = CSS.indexOf(`${selector} {`);
  const block = CSS.slice(start, CSS.indexOf('\n}', start));
  return new Map([...block.matchAll(/--([\w-]+): (#[\da-f]{6});/g)].map(([, name = '', value = '']) => [name, value]));
}

const THEMES = { light: tokensOf(':root'), dark: tokensOf(':root[data-theme="dark"]') } as const;
const linear = converter('lrgb');
type Row = readonly [number, number, number];

/** Machado, Oliveira and Fernandes (2009) at full strength, on linear RGB. */
const seenBy =
  (matrix: readonly [Row, Row, Row]) =>
  (colour: string): Color => {
    const { r, g, b } = linear(colour) ?? { r: 0, g: 0, b: 0 };
    const [x, y, z] = matrix.map((row) => Math.min(1, Math.max(0, row[0] * r + row[1] * g + row[2] * b)));
    return { mode: 'lrgb', r: x ?? 0, g: y ?? 0, b: z ?? 0 };
  };

const EYES = {
  normal: (colour: string): Color | string => colour,
  protan: seenBy([
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ]),
  deutan: seenBy([
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ]),
  tritan: seenBy([
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ]),
} as const;

const difference = differenceCiede2000();

describe.each(['light', 'dark'] as const)('the %s palette', (theme) => {
  const tokens = THEMES[theme];
  const colour = (name: string): string => {
    const value = tokens.get(name);
    if (value === undefined) throw new Error(`tokens.css has no --${name}`);
    return value;
  };
  const contrastOn = (surface: string, name: string): number => wcagContrast(colour(name), colour(surface));
  const states = STATE_NAMES.map((state) => colour(`state-${state}`));

  test.each(['page', 'panel'])(
    'texts have a contrast of at least 4.5:1, controls and states of at least 3:1 on the %s',
    (surface) => {
      const texts = ['text', 'muted', 'accent', 'danger', 'warning', 'good'];
      expect(texts.filter((name) => contrastOn(surface, name) < 4.5)).toEqual([]);
      const marks = ['control', ...STATE_NAMES.map((state) => `state-${state}`)];
      expect(marks.filter((name) => contrastOn(surface, name) < 3)).toEqual([]);
    },
  );

  test('buttons have readable text', () => {
    expect(wcagContrast(colour('on-accent'), colour('accent'))).toBeGreaterThanOrEqual(4.5);
    expect(wcagContrast(colour('on-danger'), colour('danger'))).toBeGreaterThanOrEqual(4.5);
  });

  test.each([
    ['normal', 14.5, 20],
    ['protan', 9.2, 16.5],
    ['deutan', 8.4, 16],
    ['tritan', 8.7, 17],
  ] as const)('keeps all states apart for %s eyes, and neighbours of a stack further', (eyes, all, neighbours) => {
    const seen = states.map(EYES[eyes]);
    const pairs = seen.flatMap((a, at) => seen.slice(at + 1).map((b) => difference(a, b)));
    expect(Math.min(...pairs)).toBeGreaterThanOrEqual(all);
    const beside = seen.slice(1).map((b, at) => difference(seen[at] ?? '', b));
    expect(Math.min(...beside)).toBeGreaterThanOrEqual(neighbours);
  });
});
