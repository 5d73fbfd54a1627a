/** Every number that a caller can send has a bound, and what is stored of it fits its column. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { type AnyRoute, hostedSurface, isRawBody, monitorSurface } from '@pipeline/contract';
import { MAX_CALL_TOKENS, MAX_CALL_USD, MAX_INTEGER } from '@pipeline/domain';
import { spentToday } from '@pipeline/store';
import { sql } from 'kysely';
import { z } from 'zod';
import { issueTools, orgTools } from '../../src/mcp/tools.ts';
import { read } from '../reads/readers.ts';
import { mintConnection } from '../support/connections.ts';
import { labelIssue, makeTenant, register, type Tenant, WORK } from '../support/hosted.ts';
import { hosting } from './hosting.ts';

describe('bounds of numbers', () => {
  const { database } = hosting;

  interface Numeric {
    /** Route or tool, part of the request, path of the field. */
    where: string;
    min: number;
    max: number;
  }

  type Json = Record<string, unknown> & { $defs?: Record<string, Json> };
  const list = (value: unknown): Json[] => (Array.isArray(value) ? (value as Json[]) : []);

  /** A node with its reference followed. */
  function resolved(root: Json, node: Json, path: string): Json {
    const target = typeof node.$ref === 'string' ? root.$defs?.[node.$ref.split('/').at(-1) ?? ''] : node;
    if (!target) throw new Error(`${path}: ${node.$ref} leads nowhere`);
    return target;
  }

  /** The schemas within a schema, and where each stands. */
  function childrenOf(node: Json, path: string): [Json, string][] {
    const properties = Object.entries((node.properties ?? {}) as Record<string, Json>);
    return [
      ...properties.map(([name, child]): [Json, string] => [child, `${path}.${name}`]),
      ...(node.items ? [[node.items as Json, `${path}[]`] as [Json, string]] : []),
      ...(typeof node.additionalProperties === 'object'
        ? [[node.additionalProperties as Json, `${path}{}`] as [Json, string]]
        : []),
      ...[node.anyOf, node.oneOf, node.allOf].flatMap(list).map((child): [Json, string] => [child, path]),
    ];
  }

  const isNumeric = (node: Json): boolean => [node.type].flat().some((type) => type === 'integer' || type === 'number');

  /** The numbers of a schema, as the document shows them. */
  function numbersOf(schema: z.ZodType, where: string): Numeric[] {
    const root = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Json;
    const found = new Map<string, Numeric>();
    const visit = (node: Json, path: string): void => {
      const target = resolved(root, node, path);
      const { minimum, exclusiveMinimum, maximum } = target as Record<string, number | undefined>;
      const bounds = { min: minimum ?? exclusiveMinimum ?? -Infinity, max: maximum ?? Infinity };
      if (isNumeric(target)) found.set(path, { where: path, ...bounds });
      for (const [child, at] of childrenOf(target, path)) visit(child, at);
    };
    visit(root, where);
    return [...found.values()];
  }

  const routes: readonly AnyRoute[] = [...hostedSurface.routes, ...monitorSurface.routes];
  const numbers: Numeric[] = [
    ...routes.flatMap(({ id, params, query, body }) => [
      ...(params ? numbersOf(params, `${id} path`) : []),
      ...(query ? numbersOf(query, `${id} query`) : []),
      ...(body && !isRawBody(body) ? numbersOf(body, `${id} body`) : []),
    ]),
    ...[...issueTools, ...orgTools].flatMap(({ name, input }) => numbersOf(input, `${name} tool`)),
  ];

  /** Query numbers that are moved into their bounds: the document shows no bound, for no value is refused. */
  const CLAMPED = /^\w+ query\.(limit|offset|buckets|timelines)$/;

  /** Column that stores a number; null = it is not, or inside a JSON document, which holds any number. */
  const STORED: readonly [RegExp, string | null][] = [
    [/^addRepo body\.poolSize$/, 'repos.pool_size'],
    [/^addRepo body\.maxRounds$/, 'repos.max_rounds'],
    [/^addRepo body\.compare\{\}\{\}$/, null],
    [/invocations\[\]\.index$/, 'agent_invocations.invocation_index'],
    [/invocations\[\]\.inputTokens$/, 'agent_invocations.input_tokens'],
    [/invocations\[\]\.outputTokens$/, 'agent_invocations.output_tokens'],
    [/invocations\[\]\.cacheReadTokens$/, 'agent_invocations.cache_read_tokens'],
    [/invocations\[\]\.cacheWriteTokens$/, 'agent_invocations.cache_write_tokens'],
    [/invocations\[\]\.turns$/, 'agent_invocations.turns'],
    [/invocations\[\]\.costUsd$/, 'agent_invocations.cost_usd'],
    [/^recordMessages body\.items\[\]\.invocationIndex$/, 'agent_messages.invocation_index'],
    [/^recordMessages body\.items\[\]\.sequence$/, 'agent_messages.sequence'],
    [/findings\[\]\.confidence$/, 'findings.confidence'],
    [/intelligence\[\]\.confidence$/, 'intelligence_items.confidence'],
    [/result\.files\[\]\.size$/, 'repo_files.size'],
    [/result\.(symbols|comments)\[\]\.line$/, null],
    [/evidence\[\]\.line(Start|End)$/, null],
    [/\.waitMs$/, null],
    [/\.retryAfterMs$/, null],
    [/Finding body\.issueNumber$/, 'issues.issue_number'],
    [/issueNumbers\[\]$/, 'issues.issue_number'],
    [/^browserInvite body\.days$/, null],
    [/^actOnIssues body\.limit$/, null],
    [/^listAlerts query\.issue$/, 'alerts.issue_number'],
    [/\.cooldown_minutes$/, 'tracks.cooldown_minutes'],
    [/^(approve|reject)Plan body\.version$/, 'issue_plans.version'],
    [/\.weight$/, 'tracks.weight'],
    [/proposal\[\]\.count$/, null],
    [/ tool\.(limit|offset|budget)$/, null],
    [/ tool\.(number|issue)$/, 'issues.issue_number'],
    [/ tool\.pr$/, 'pull_requests.number'],
  ];

  /** The greatest value of each column of numbers. */
  async function columnMaxima(): Promise<Map<string, number>> {
    const { rows } = await sql<{ name: string; type: string; precision: number | null; scale: number | null }>`
    select table_name || '.' || column_name as name, data_type as type, numeric_precision as precision,
      numeric_scale as scale
    from information_schema.columns where table_schema = 'pipeline'`.execute(database.db);
    const maxOf = { integer: MAX_INTEGER, bigint: 2 ** 63 - 1024, 'double precision': Number.MAX_VALUE, real: 3.4e38 };
    return new Map(
      rows.map(({ name, type, precision, scale }) => [
        name,
        type === 'numeric' ? 10 ** ((precision ?? 1_000) - (scale ?? 0)) - 1 : (maxOf[type as never] ?? Number.NaN),
      ]),
    );
  }

  describe('the numbers of all requests', () => {
    test('finds the numbers', () => {
      expect(numbers.length).toBeGreaterThan(40);
    });

    test('numbers have bounds of their own when they are not clamped', () => {
      const bounded = ({ min, max }: Numeric) => min > Number.MIN_SAFE_INTEGER && max < Number.MAX_SAFE_INTEGER;
      const exempt = ({ where }: Numeric) => CLAMPED.test(where) || /result\.files\[\]\.size$/.test(where);
      expect(numbers.filter((one) => !bounded(one) && !exempt(one))).toEqual([]);
    });

    /** Returns the sizes of the numbers that a field takes large numbers for. */
    const parsed = (field: z.ZodType): number[] =>
      ['2147483648', '-9007199254740993', '9'.repeat(400), '-1e400', 'x'].flatMap((sent) => {
        const { data } = field.safeParse(sent);
        return data === undefined ? [] : [Math.abs(data as number)];
      });

    test('numbers are clamped to an integer when the document shows no bound', () => {
      const clamped = numbers.filter(({ where }) => CLAMPED.test(where));
      expect(clamped.length).toBeGreaterThan(10);
      for (const { where } of clamped) {
        const [, id, name = ''] = /^(\w+) query\.(\w+)$/.exec(where) ?? [];
        const field = routes.find((route) => route.id === id)?.query?.shape[name] as z.ZodType;
        for (const value of parsed(field)) {
          expect([where, value]).toEqual([where, expect.any(Number)]);
          expect(value).toBeLessThanOrEqual(MAX_INTEGER);
        }
      }
    });

    test('fit the columns that they are stored in', async () => {
      const maxima = await columnMaxima();
      for (const { where, max } of numbers.filter(({ where }) => !CLAMPED.test(where))) {
        const entry = STORED.find(([pattern]) => pattern.test(where));
        expect([where, entry !== undefined]).toEqual([where, true]);
        const column = entry?.[1];
        if (!column) continue;
        expect([where, column, maxima.has(column)]).toEqual([where, column, true]);
        expect([where, max <= (maxima.get(column) ?? 0)]).toEqual([where, true]);
      }
    });

    test('fit the columns of their sums a million million times', async () => {
      const maxima = await columnMaxima();
      const sums: [string, number][] = [
        ['runs.cost_usd', MAX_CALL_USD],
        ['issues.cost_usd', MAX_CALL_USD],
        ['cost_sums.usd', MAX_CALL_USD],
        ...['input_tokens', 'output_tokens', 'cache_read_tokens', 'cache_write_tokens'].map(
          (name): [string, number] => [`cost_sums.${name}`, MAX_CALL_TOKENS],
        ),
      ];
      for (const [column, bound] of sums) {
        expect([column, (maxima.get(column) ?? 0) / bound]).toEqual([column, expect.any(Number)]);
        expect((maxima.get(column) ?? 0) / bound).toBeGreaterThanOrEqual(1e12);
      }
    });
  });

  test.each(['2147483648', '9007199254740993', '9'.repeat(20), '9'.repeat(400)])(
    'reads answer 400 or 404 when a number of a path or page is %s',
    async (value) => {
      const { id, repo } = await makeTenant(hosting.api);
      const { token } = await mintConnection(database.owner, { tenantId: id, role: 'owner' });
      const slug = `${repo.owner}/${repo.name}`;
      const { status } = await read(hosting.api, `/api/cli/issues/${value}/why?repo=${slug}`, token);
      expect([400, 404]).toContain(status);
      for (const name of ['limit', 'offset']) {
        expect((await read(hosting.api, `/api/cli/issues?repo=${slug}&${name}=${value}`, token)).status).toBe(200);
      }
    },
  );

  describe('a report', () => {
    let tenant: Tenant;
    let issues = 0;
    beforeAll(async () => {
      tenant = await makeTenant(hosting.api);
    });

    async function claimed() {
      issues += 1;
      await labelIssue(hosting.api, tenant.repo, issues);
      const workerId = await register(hosting.api, tenant.token);
      const { body } = await hosting.api.post('/api/worker/claim', { workerId, taskTypes: WORK }, tenant);
      const { id, claimToken } = body.task;
      return (action: string, more: object) =>
        hosting.api.post(`/api/worker/tasks/${id}/${action}`, { claimToken, ...more }, tenant);
    }

    const call = { index: 0, model: 'm', provider: 'p' };

    test.each(['invocationIndex', 'sequence'])('refuses a report when %s of a message is 2^31', async (field) => {
      const say = await claimed();
      const message = { invocationIndex: 0, sequence: 0, role: 'user', subtype: 'text', content: 'x' };
      expect((await say('messages', { items: [{ ...message, [field]: 2 ** 31 }] })).status).toBe(400);
      expect((await say('messages', { items: [{ ...message, [field]: 2 ** 31 - 1 }] })).status).toBe(200);
    });

    test('accepts a report at every bound, and what follows it, when the day costs more than 99,999,999.99 USD', async () => {
      const tokens = {
        inputTokens: MAX_CALL_TOKENS,
        outputTokens: MAX_CALL_TOKENS,
        cacheReadTokens: MAX_CALL_TOKENS,
        cacheWriteTokens: MAX_CALL_TOKENS,
      };
      const invocations = Array.from({ length: 1_000 }, (_, n) => ({
        ...call,
        ...tokens,
        index: MAX_INTEGER - n,
        turns: MAX_INTEGER,
        costUsd: MAX_CALL_USD,
      }));
      for (let n = 0; n < 3; n += 1) {
        const say = await claimed();
        expect((await say('progress', { status: 's', invocations })).body).toEqual({ ok: true });
      }
      expect(await spentToday(database.db, tenant.id)).toBe(300_000_000);
      const say = await claimed();
      expect((await say('complete', { outcome: 'analyzed', result: {} })).status).toBe(200);
    });
  });
});
