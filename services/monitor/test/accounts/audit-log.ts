import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { insertAuditEntry, inTransaction } from '@pipeline/store';
import { admit, type Bench, makeBench } from '../support/bench.ts';
import { type Call, serveConnected } from '../support/served-app.ts';
import { database } from './database.ts';

describe('the audit log of the API', () => {
  const START = Date.parse('2026-03-01T00:00:00Z');
  const FORMULA = '=HYPERLINK("https://example.org","x"), then "quoted"\nand a second line';
  let bench: Bench;
  let call: Call;
  let close: () => Promise<void>;

  interface Entry {
    id: string;
    at: string;
    actor: string;
    action: string;
    target: string;
    reason: string | null;
  }
  interface Page {
    items: Entry[];
    next: string | null;
  }

  const at = (minute: number) => new Date(START + minute * 60_000);
  const list = async (query = ''): Promise<Page> => (await call('GET', `/api/audit${query}`)).json as Page;
  const actionsOf = ({ items }: Page) => items.map(({ action, target }) => `${action} ${target}`);

  async function log(minute: number, entry: { actor: string; action: string; subject: string; reason?: string }) {
    database.clock.now = at(minute);
    await inTransaction(database.store.db, (tx) =>
      insertAuditEntry(tx, {
        actorType: 'operator',
        actorId: entry.actor,
        action: entry.action,
        subject: entry.subject,
        reason: entry.reason ?? null,
        details: { minute },
      }),
    );
  }

  /** Minutes 1 to 4: an action on issue 1, one of the log, two of the same time in both sources. */
  beforeAll(async () => {
    bench = await makeBench(database.store, 'Acme/Shop');
    ({ call, close } = await serveConnected({ engine: bench.engine }));
    database.clock.now = at(0);
    await admit(bench, 1);
    await admit(bench, 2);
    database.clock.now = at(1);
    await call('POST', '/api/issues/acme/shop/1/pause', { body: { reason: FORMULA } });
    await log(2, { actor: 'anna', action: 'user-create', subject: 'user bob', reason: 'new colleague' });
    database.clock.now = at(3);
    await call('POST', '/api/issues/acme/shop/2/pause', { body: {} });
    await log(3, { actor: '+anna', action: 'user-disable', subject: 'user bob' });
    database.clock.now = at(9);
  });
  afterAll(() => close());

  const ALL = ['user-disable user bob', 'pause Acme/Shop#2', 'user-create user bob', 'pause Acme/Shop#1'];

  describe('the audit', () => {
    test('lists the actions of both sources, newest first, with actor, time and reason', async () => {
      const page = await list();
      expect([actionsOf(page), page.next]).toEqual([ALL, null]);
      expect(page.items.at(-1)).toMatchObject({
        at: at(1).toISOString(),
        actorType: 'operator',
        actor: 'olga',
        repo: 'Acme/Shop',
        issueNumber: 1,
        reason: FORMULA,
      });
      expect(page.items[2]).toMatchObject({ actor: 'anna', repo: null, issueNumber: null, details: { minute: 2 } });
    });

    test.each([1, 2, 3])('returns every action once when the pages have %d entries', async (limit) => {
      const seen: string[] = [];
      for (let page = await list(`?limit=${limit}`); ; page = await list(`?limit=${limit}&after=${page.next}`)) {
        seen.push(...actionsOf(page));
        expect(page.items.length).toBeLessThanOrEqual(limit);
        if (page.next === null) break;
      }
      expect(seen).toEqual(ALL);
    });

    test.each([
      ['actor=olga', ['pause Acme/Shop#2', 'pause Acme/Shop#1']],
      ['action=user-create', ['user-create user bob']],
      ['target=acme/shop', ['pause Acme/Shop#2', 'pause Acme/Shop#1']],
      ['target=acme/shop%231', ['pause Acme/Shop#1']],
      ['target=user%20bob', ['user-disable user bob', 'user-create user bob']],
      ['target=acme/other', []],
      [`since=${at(2).toISOString()}&until=${at(3).toISOString()}`, ['user-create user bob']],
      ['actor=olga&action=pause&target=acme/shop%232', ['pause Acme/Shop#2']],
    ])('returns the matching actions when the query is %s', async (query, expected) => {
      expect(actionsOf(await list(`?${query}`))).toEqual(expected);
    });

    test.each(['after=x', 'after=2026-02-31T10:00:00.000000Z~log~1', 'since=soon', 'limit=x', 'actor='])(
      'returns 400 when the query is %s',
      async (query) => {
        expect((await call('GET', `/api/audit?${query}`)).status).toBe(400);
      },
    );

    test('returns 401 when the caller is not logged in', async () => {
      const headers = { authorization: '' };
      expect((await call('GET', '/api/audit', { headers })).status).toBe(401);
      expect((await call('GET', '/api/audit/export?format=csv', { headers })).status).toBe(401);
    });
  });

  describe('the export of the audit', () => {
    test('exports CSV whose formulas are texts when the format is csv', async () => {
      const { status, headers, text } = await call('GET', '/api/audit/export?format=csv');
      expect([status, headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8']);
      expect(headers.get('content-disposition')).toMatch(/^attachment; filename="audit-[\d-]{10}\.csv"$/);
      const [head, ...rows] = text.split('\r\n');
      expect(head).toBe('at,actorType,actor,action,target,reason,details,id');
      expect(rows).toHaveLength(ALL.length + 1);
      expect(text).toContain(`,'+anna,user-disable,`);
      expect(text).toContain(`"'${FORMULA.replaceAll('"', '""')}"`);
    });

    test('exports the list of the API when the format is json', async () => {
      const { text } = await call('GET', '/api/audit/export?format=json&actor=olga');
      expect(JSON.parse(text)).toEqual((await list('?actor=olga')).items);
    });

    test('exports an empty list when no action matches', async () => {
      expect(JSON.parse((await call('GET', '/api/audit/export?format=json&actor=nobody')).text)).toEqual([]);
    });

    test('exports every action once when the list has several pages', async () => {
      await database.db
        .insertInto('audit_log')
        .values(
          Array.from({ length: 1_100 }, (_, index) => ({
            at: at(20 + (index % 7)).toISOString(),
            actor_type: 'operator',
            actor_id: 'many',
            action: 'test',
            subject: `user ${index}`,
            reason: null,
            details: '{}' as never,
          })),
        )
        .execute();
      const { text } = await call('GET', '/api/audit/export?format=json&actor=many');
      const subjects = (JSON.parse(text) as Entry[]).map(({ target }) => target);
      expect([subjects.length, new Set(subjects).size]).toEqual([1_100, 1_100]);
    });

    test('returns 400 when the format is unknown', async () => {
      expect((await call('GET', '/api/audit/export?format=xml')).status).toBe(400);
    });
  });

  afterAll(() => database.clear());
});
