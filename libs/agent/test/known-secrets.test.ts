import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { KnownSecrets } from '../src/agents/known-secrets.ts';
import { AgentBench } from './agent-bench.ts';

const KEY = 'sk-key/1234567890+abcdefghij=';
const TOKEN = 'ghs_token0123456789';
const base64 = (text: string, encoding: 'base64' | 'base64url' = 'base64') => Buffer.from(text).toString(encoding);
const wrapped = base64(`name: ${KEY}`).replaceAll(/.{12}/g, (line) => `${line}\n`);

const FORMS: [string, string][] = [
  ['plain', KEY],
  ['URL-encoded', encodeURIComponent(KEY)],
  ['percent-encoded as a whole', [...Buffer.from(KEY)].map((byte) => `%${byte.toString(16)}`).join('')],
  ['base64', base64(KEY)],
  ['base64 after one byte', base64(`x${KEY}y`)],
  ['base64 after two bytes', base64(`xx${KEY}y`)],
  ['base64 for addresses', base64(KEY, 'base64url')],
  ['base64 in lines', wrapped],
];

describe.each(FORMS)('a secret that is %s', (_, text) => {
  const secrets = new KnownSecrets([KEY]);
  const bytes = Buffer.from(`before ${text} after`);

  test('a known value is found in files, also where their parts divide it', async () => {
    expect(await secrets.areIn(Readable.from([bytes]))).toBe(true);
    expect(await secrets.areIn(Readable.from([...bytes].map((byte) => Buffer.from([byte]))))).toBe(true);
  });

  test('a known value is redacted in all texts of an object', () => {
    const redacted = secrets.redact({ title: `before ${text} after`, lines: [1, null, text] });
    expect(redacted).toEqual({
      title: expect.stringMatching(/^before .*\[redacted\].* after$/),
      lines: expect.any(Array),
    });
    expect(JSON.stringify(redacted)).not.toContain(text.slice(4, 20));
  });
});

test('other texts are unchanged, and short values are no secrets', async () => {
  const secrets = new KnownSecrets([KEY, 'true', '']);
  const text = 'It is true:\nsk-key/12345\n';
  expect(secrets.redact(text)).toBe(text);
  expect(await secrets.areIn(Readable.from([Buffer.from(text)]))).toBe(false);
});

describe('an agent with a key', () => {
  let bench: AgentBench;
  beforeEach(async () => {
    bench = await AgentBench.open({ 'README.md': '# Shop\n' });
  });
  afterEach(() => bench.close());

  const env = { PATH: process.env.PATH ?? '', MODEL_KEY: KEY };
  const options = { env, passedEnv: ['MODEL_KEY'], gitToken: TOKEN };
  const submitted = (title: string, body: string) => ({ verdict: { outcome: 'submitted', result: { title, body } } });

  test.each([
    ['a key', 'config.txt', `name: x\n${KEY}\n`],
    ['a key in base64', 'config.txt', base64(`Bearer ${KEY}`)],
    ['a key in its name', encodeURIComponent(KEY), 'x\n'],
    ['the token for git', 'config.txt', `${TOKEN}\n`],
  ])('is refused a file with %s, and may remove it', async (_, path, text) => {
    const { verdict, texts } = await bench.run(
      bench.task('develop'),
      {
        turns: [
          [{ edit: { path: 'good.txt', text: 'good\n' } }, { edit: { path, text } }, submitted('Add', 'As planned.')],
          [{ edit: { path, text: null } }, submitted('Add', 'As planned.')],
        ],
      },
      options,
    );
    expect(texts.join('\n')).toMatch(/could not use your last message: these files contain a key or a token/);
    expect(texts.join('\n')).not.toContain('good.txt');
    expect(verdict).toMatchObject({ outcome: 'submitted', result: { changedFiles: ['good.txt'] } });
  });

  test('pushes nothing when its files contain a key to the end', async () => {
    const { verdict } = await bench.run(
      bench.task('develop'),
      { turns: [[{ edit: { path: 'a.txt', text: KEY } }, submitted('Add', 'As planned.')]] },
      options,
    );
    expect(verdict).toMatchObject({
      kind: 'failure',
      errorMessage: expect.stringContaining('contain a key or a token'),
    });
    expect(await bench.hostGit('for-each-ref', '--format=%(refname:short)')).toBe('main');
  });

  test('publishes no key or token with a title, a body or a commit', async () => {
    const { verdict } = await bench.run(
      bench.task('develop'),
      {
        turns: [[{ edit: { path: 'a.txt', text: 'a\n' } }, submitted(`Add ${KEY}`, `See ${base64(KEY)} and ${TOKEN}`)]],
      },
      options,
    );
    expect(verdict).toMatchObject({ outcome: 'submitted', result: { title: 'Add [redacted]' } });
    const published = JSON.stringify(verdict) + (await bench.hostGit('log', '-1', '--format=%B', 'svc/issue-7'));
    for (const secret of [KEY, base64(KEY), TOKEN]) expect(published).not.toContain(secret);
  });

  test.each([
    ['analyze', 'needs-clarification', { question: `Is it ${KEY}?` }],
    ['plan', 'planned', { plan: `Use ${encodeURIComponent(KEY)}.`, plannedFiles: [KEY] }],
    ['review', 'needs-human', { reason: base64(KEY) }],
    ['retrospect', 'retrospective', { outcomeClassification: 'success', summary: KEY }],
  ] as const)('publishes no key with the result of %s', async (taskType, outcome, result) => {
    const headSha = await bench.commit('Change', { 'a.txt': 'a\n' }, 'svc/issue-7');
    const pr = { number: 1, url: '', headSha, headRef: 'svc/issue-7', title: 'T', body: '' };
    const { verdict } = await bench.run(
      bench.task(taskType, { pr }),
      { turns: [[{ verdict: { outcome, result } }]] },
      options,
    );
    expect(verdict).toMatchObject({ kind: 'outcome', outcome });
    expect(JSON.stringify(verdict)).toContain('[redacted]');
    for (const secret of [KEY, base64(KEY), encodeURIComponent(KEY)])
      expect(JSON.stringify(verdict)).not.toContain(secret);
  });
});
