import { describe, expect, test } from '@jest/globals';
import { parsePreferences } from '@pipeline/web/preferences/preferences.ts';
import { ServerClock } from '@pipeline/web/timing/server-clock.ts';
import fc from 'fast-check';
import { reconnectDelay } from '../src/stream/connection.ts';
import { eventOf } from '../src/stream/events.ts';
import { type LiveFacts, liveState } from '../src/stream/live-state.ts';

const facts = (over: Partial<LiveFacts> = {}): LiveFacts => ({
  phase: 'open',
  lastMessageAt: 0,
  since: 0,
  attempt: 0,
  ...over,
});
const calm = { now: 1_000, signedOut: false, storeOffline: false, paused: false };

describe('the live badge', () => {
  test.each([
    ['live', facts(), calm],
    ['paused', facts(), { ...calm, paused: true }],
    ['reconnecting', facts({ phase: 'waiting' }), calm],
    ['reconnecting', facts({ phase: 'connecting', lastMessageAt: null }), calm],
    ['store-offline', facts(), { ...calm, storeOffline: true, paused: true }],
    ['stale', facts(), { ...calm, now: 45_000, paused: true }],
    ['cut', facts({ phase: 'waiting' }), { ...calm, now: 75_000, storeOffline: true }],
    ['cut', facts({ phase: 'connecting', lastMessageAt: null }), { ...calm, now: 80_000 }],
    ['signed-out', facts(), { ...calm, now: 80_000, signedOut: true }],
    ['signed-out', facts({ phase: 'signed-out' }), calm],
  ] as const)('the badge is %s', (state, given, surroundings) => {
    expect(liveState(given, surroundings)).toBe(state);
  });
});

test('a reconnect waits one to thirty seconds, longer with each attempt', () => {
  fc.assert(
    fc.property(fc.nat(100), fc.double({ min: 0, max: 1, noNaN: true }), (attempt, random) => {
      const wait = reconnectDelay(attempt, random);
      expect(wait).toBeGreaterThanOrEqual(1_000);
      expect(wait).toBeLessThanOrEqual(30_000);
      expect(reconnectDelay(attempt + 1, random)).toBeGreaterThanOrEqual(wait);
    }),
  );
});

test('a message without a number or with broken JSON is no event', () => {
  expect(eventOf({ id: '7', event: 'alert', data: '{"severity":"info"}' })).toEqual({
    id: 7,
    type: 'alert',
    data: { severity: 'info' },
  });
  expect(eventOf({ id: 'x', event: 'alert', data: '{}' })).toBeNull();
  expect(eventOf({ id: '7', event: 'alert', data: '{' })).toBeNull();
  expect(eventOf({ id: '7', data: '{}' })).toBeNull();
});

test('the clock of the monitor corrects a wrong local clock, and ignores the coarseness of a header', () => {
  const clock = new ServerClock(() => 1_000_000);
  clock.observe(new Date(1_001_000).toUTCString());
  expect(clock.now()).toBe(1_000_000);
  clock.observe(new Date(1_300_000).toUTCString());
  expect(clock.now()).toBe(1_300_000);
  clock.observe('nonsense');
  expect(clock.now()).toBe(1_300_000);
  clock.observe(new Date(1_000_000).toUTCString());
  expect(clock.now()).toBe(1_000_000);
});

test('stored preferences of another version fall back one by one', () => {
  expect(parsePreferences('{"theme":"dark","density":"huge","withoutColour":true,"extra":1}')).toEqual({
    theme: 'dark',
    density: 'normal',
    zone: 'local',
    withoutColour: true,
    letterKeys: true,
  });
  expect(parsePreferences('{')).toEqual(parsePreferences(null));
});
