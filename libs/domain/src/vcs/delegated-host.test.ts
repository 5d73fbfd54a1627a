import { expect, test } from '@jest/globals';
import { hostOnFirstUse } from './delegated-host.ts';
import type { VcsHost } from './host.ts';

const REPO = { owner: 'acme', name: 'web' };

/** A host that answers what this test asks, and records what it was asked. */
function recording(asked: unknown[]): VcsHost {
  const answers = {
    login: async () => 'pipeline[bot]',
    isPerson: async () => false,
    isBehind: async (...args: unknown[]) => asked.push(args) > 0,
  };
  return answers as Partial<VcsHost> as VcsHost;
}

test('a host on first use is loaded by its first call, once, and gets every call', async () => {
  const asked: unknown[] = [];
  let loads = 0;
  const host = hostOnFirstUse('github', async () => {
    loads += 1;
    return recording(asked);
  });
  expect([host.clientType, loads]).toEqual(['github', 0]);
  const answers = await Promise.all([host.login(), host.isPerson(), host.isBehind(REPO, 'main', 'abc')]);
  expect([answers, asked, loads]).toEqual([['pipeline[bot]', false, true], [[REPO, 'main', 'abc']], 1]);
});

test('a host whose client cannot be loaded rejects its calls', async () => {
  const host = hostOnFirstUse('sandbox', () => Promise.reject(new Error('no such file')));
  await expect(host.isBehind(REPO, 'main', 'abc')).rejects.toThrow('no such file');
});
