import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { BOT, createSandboxEnvironment, REPO, type SandboxEnvironment } from '@pipeline/testing/sandbox';
import { createGitHubHost } from '../src/github/index.ts';

let environment: SandboxEnvironment;
beforeAll(async () => {
  environment = await createSandboxEnvironment();
});
afterAll(() => environment.end());

const protect = (requiredApprovals: number, role: 'admin' | 'write') =>
  environment.sandbox.addRepo({ slug: 'acme/shop', collaborators: { [BOT.login]: role }, requiredApprovals });

describe('the sandbox host', () => {
  test.each(['admin', 'write'] as const)(
    'reports an unprotected branch as open to pushes for role %s',
    async (role) => {
      await protect(0, role);
      expect(await environment.host.pushProtectionOf(REPO, 'main')).toEqual({ restricted: false, by: [] });
      await environment.push('main', `${role}.txt`, 'pushed\n');
    },
  );

  test('reports a protected branch as restricted and refuses a push to it, but not to others', async () => {
    await protect(1, 'write');
    expect(await environment.host.pushProtectionOf(REPO, 'main')).toEqual({
      restricted: true,
      by: ['ruleset rule pull_request'],
    });
    await expect(environment.push('main', 'direct.txt', 'x\n')).rejects.toThrow('Protected branch update failed');
    await environment.push('svc/issue-1', 'direct.txt', 'x\n');
    expect(await environment.host.pushProtectionOf(REPO, 'svc/issue-1')).toEqual({ restricted: false, by: [] });
  });
});

describe('GitHub', () => {
  type Answer = [status: number, body: unknown];
  const hidden: Answer = [404, { message: 'Not Found' }];
  const upgrade: Answer = [403, { message: 'Upgrade to GitHub Pro or make this repository public' }];
  const unprotected: Answer = [404, { message: 'Branch not protected' }];
  const rule = (type: string) => ({ type });
  const branch = (isProtected: boolean): Answer => [200, { name: 'main', protected: isProtected }];

  /** @param answers by what the path ends with: rules, protection, branch. */
  const read = (answers: { rules: Answer; protection?: Answer; branch?: Answer }) => {
    const fetch: typeof globalThis.fetch = async (url) => {
      const path = new URL(String(url)).pathname;
      const kind = path.includes('/rules/') ? 'rules' : path.endsWith('/protection') ? 'protection' : 'branch';
      const [status, body] = answers[kind] ?? [500, { message: `${kind} was read` }];
      return new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } });
    };
    const now = () => new Date('2026-01-01T00:00:00Z');
    const host = createGitHubHost({
      baseUrl: 'https://api.test',
      token: 'x',
      clientType: 'github',
      userAgent: 'test',
      now,
      fetch,
    });
    return host.pushProtectionOf(REPO, 'main');
  };

  test.each<[string, Parameters<typeof read>[0], boolean | null, string[]]>([
    [
      'a rule asks for pull requests',
      { rules: [200, [rule('deletion'), rule('pull_request')]] },
      true,
      ['ruleset rule pull_request'],
    ],
    [
      'classic protection asks for pull requests',
      { rules: [200, []], protection: [200, { required_pull_request_reviews: {} }] },
      true,
      ['branch protection: pull request required'],
    ],
    [
      'classic protection names who may push',
      { rules: upgrade, protection: [200, { restrictions: {} }] },
      true,
      ['branch protection: restricted pushers'],
    ],
    [
      'protection only forbids force pushes',
      { rules: [200, [rule('non_fast_forward')]], protection: [200, { allow_force_pushes: { enabled: false } }] },
      false,
      [],
    ],
    ['there is neither', { rules: [200, []], protection: unprotected }, false, []],
    [
      'protection is hidden and the branch has none',
      { rules: upgrade, protection: upgrade, branch: branch(false) },
      false,
      [],
    ],
    [
      'protection is hidden and the branch has some',
      { rules: hidden, protection: hidden, branch: branch(true) },
      null,
      [],
    ],
  ])('reads the protection correctly when %s', async (_what, answers, restricted, by) => {
    expect(await read(answers)).toEqual({ restricted, by });
  });

  test('throws when the host fails', async () => {
    const failing: Answer = [401, { message: 'Bad credentials' }];
    await expect(read({ rules: failing })).rejects.toMatchObject({ kind: 'unauthorized' });
  });

  test('reports the protection as unknown when the rules of the branch may not be read', async () => {
    await protect(0, 'write');
    const fault = { status: 403, message: 'Resource not accessible', match: { path: '/rules/branches/' } };
    environment.sandbox.failNext(fault);
    expect(await environment.host.pushProtectionOf(REPO, 'main')).toEqual({ restricted: null, by: [] });
  });
});
