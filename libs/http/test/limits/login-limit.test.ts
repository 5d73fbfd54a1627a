import { expect, test } from '@jest/globals';
import { type AttemptCounter, createLoginLimit } from '../../src/limits/login-limit.ts';

test('a refused attempt counts towards no other limit than the one that refuses it', async () => {
  const counts = new Map<string, number>();
  const add = (key: string, by: number) => counts.set(key, (counts.get(key) ?? 0) + by).get(key) ?? 0;
  const counter: AttemptCounter = {
    add: async (key) => ({ points: add(key, 1), msLeft: 1_000 }),
    subtract: async (key) => void add(key, -1),
    count: async (key) => counts.get(key) ?? 0,
  };
  const limit = createLoginLimit({ limit: 2, counter, onFailure: async () => undefined });
  const attempt = (name: string) => limit.attempt({ address: '192.0.2.1', name }, async () => null);
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) expect(await attempt(name)).toBeNull();
  await expect(attempt('g')).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  const counted = (kind: string) => [...counts].filter(([key, points]) => key.startsWith(kind) && points > 0).length;
  expect([counted('pair'), counted('name')]).toEqual([6, 6]);
});
